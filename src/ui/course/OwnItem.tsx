// Draws an item of a course that is no lesson: a teacher's page with questions, or an experiment
// that is trained to its end.
import { useEffect, useMemo } from 'react'
import { type CourseItem, type CourseQuestion, partNames } from '../../document/course/course.ts'
import { decodeLink } from '../../document/links/link.ts'
import { formatCount } from '../kit/format.ts'
import { type Question, type TryIt, tryIt } from '../lessons/base/lesson.ts'
import { markDone } from '../lessons/base/progress.ts'
import { seen, stillTraining } from '../lessons/base/run_facts.ts'
import { Ask } from '../lessons/parts/Ask.tsx'
import { LessonContext } from '../lessons/parts/context.ts'
import { Try } from '../lessons/parts/Try.tsx'
import { Paragraphs } from './Paragraphs.tsx'

type Own = Exclude<CourseItem, { kind: 'lesson' }>

const questionOf = ({ asks, choices, right, because, hint }: CourseQuestion): Question => ({
  kind: 'question',
  asks,
  choices: choices.map((text, i) => (i === right ? { text, is_right: true } : { text })),
  because: because || 'Yes.',
  hint: hint || 'Read the text again.',
})

/** Done when the run has all steps that its phases say. */
function trainedToEnd(link: string): TryIt {
  const { experiment } = decodeLink(link)
  const steps = experiment.phases.reduce((sum, phase) => sum + phase.steps, 0)
  return tryIt(`${formatCount(steps)} steps, to the end.`, link, ({ step }) =>
    step >= steps
      ? seen(`All ${formatCount(steps)} steps are trained.`)
      : stillTraining(`${formatCount(step)} of ${formatCount(steps)} steps so far.`),
  )
}

export function OwnItem({ item, id }: { readonly item: Own; readonly id: string }) {
  const parts = useMemo(() => partNames(item), [item])
  const { title } = item
  const place = useMemo(() => ({ id, title, parts }), [id, title, parts])
  // A page without questions is finished when it was opened.
  useEffect(() => {
    if (parts.length === 0) markDone(id, 'read', [])
  }, [id, parts])
  return (
    <LessonContext value={place}>
      <article className="lesson-text">
        <Paragraphs text={item.text} />
        {item.kind === 'run' ? (
          <Try name="run" of={trainedToEnd(item.link)} />
        ) : (
          item.questions.map((question, i) => (
            <Ask key={question.asks} name={`q${i}`} of={questionOf(question)} />
          ))
        )}
      </article>
    </LessonContext>
  )
}
