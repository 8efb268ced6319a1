// Makes the code that is handed in, of the open course or of one lesson.
import { useId, useMemo, useState } from 'react'
import { useStore } from 'zustand'
import { version } from '../../../package.json'
import { encodeHandedIn } from '../../document/course/code.ts'
import { type Course, courseId, itemId } from '../../document/course/course.ts'
import type { Progress } from '../../document/course/progress.ts'
import { WHAT_IT_PROVES } from '../../record/handed_in/check_code.ts'
import { formatCount } from '../kit/format.ts'
import { progressOf, progressStore } from '../lessons/base/progress.ts'
import { LESSONS } from '../lessons/lessons.ts'
import { courseStore } from './course_store.ts'
import { useCopying } from './use_copying.ts'

/** What of a lesson or an item is handed in. */
function given(progress: Progress, id: string) {
  const { chosen, runs } = progressOf(progress, id)
  return { id, chosen, runs }
}

interface Choice {
  readonly id: string
  readonly title: string
  readonly course: Course | undefined
}

/** The open course, and every lesson in which something was done. */
function choicesOf(course: Course | undefined, progress: Progress): Choice[] {
  const begun = LESSONS.filter(({ id }) => {
    const { chosen, runs } = progressOf(progress, id)
    return Object.keys(chosen).length + Object.keys(runs).length > 0
  })
  return [
    ...(course ? [{ id: 'course', title: `The course “${course.title}”`, course }] : []),
    ...begun.map(({ id, title }) => ({ id, title, course: undefined })),
  ]
}

function codeOf({ id, course }: Choice, by: string, progress: Progress): string {
  const items = course
    ? course.items.map((_, i) => given(progress, itemId(course, i)))
    : [given(progress, id)]
  const of = course ? { id: courseId(course), title: course.title } : null
  return encodeHandedIn({ by, understory: version, course: of, items })
}

export function HandIn() {
  const { course } = useStore(courseStore)
  const progress = useStore(progressStore)
  const choices = choicesOf(course, progress)
  const [wanted, setWanted] = useState('')
  const [by, setBy] = useState('')
  const choice = choices.find(({ id }) => id === wanted) ?? choices[0]
  const code = useMemo(() => choice && codeOf(choice, by, progress), [choice, by, progress])
  const { field, copy } = useCopying()
  const id = useId()
  if (!choice || code === undefined)
    return (
      <p className="soft">
        There is nothing to hand in yet: answer a question of a lesson, or train its experiment.
      </p>
    )
  return (
    <form
      className="course-form"
      onSubmit={(event) => {
        event.preventDefault()
        void copy(code, 'Code')
      }}
    >
      <label>
        <span>What</span>
        <select
          data-testid="hand-in-what"
          value={choice.id}
          onChange={({ target }) => setWanted(target.value)}
        >
          {choices.map(({ id: own, title }) => (
            <option key={own} value={own}>
              {title}
            </option>
          ))}
        </select>
      </label>
      <label>
        <span>Your name, as your teacher knows it</span>
        <input
          type="text"
          data-testid="hand-in-name"
          maxLength={120}
          value={by}
          onChange={({ target }) => setBy(target.value)}
        />
      </label>
      <label htmlFor={id}>
        Code, {formatCount(code.length)} characters: copy it and send it to your teacher
      </label>
      <textarea ref={field} id={id} data-testid="hand-in-code" readOnly rows={6} value={code} />
      <p>
        <button type="submit" className="primary" data-testid="hand-in-copy">
          Copy the code
        </button>
      </p>
      <p className="soft">
        It holds your name as it is written above, your choices, and for each experiment the link,
        the number of steps, the name of the GPU and a hash of the curves. Nothing is sent anywhere.{' '}
        {WHAT_IT_PROVES}
      </p>
    </form>
  )
}
