// Draws the list of the lessons, and the lesson that is open.
import { ArrowRight, CircleCheck } from 'lucide-react'
import { useMemo } from 'react'
import { useStore } from 'zustand'
import { openLesson } from '../open/open_lesson.ts'
import { lazyPart, Opening } from '../part/lazy_part.tsx'
import { useHasNoGpu } from '../part/no_gpu.ts'
import { endSays, leftOf } from './base/left.ts'
import type { Lesson, LessonContent } from './base/lesson.ts'
import { progressOf, progressStore } from './base/progress.ts'
import { LESSONS } from './lessons.ts'
import { LessonContext } from './parts/context.ts'
import './lessons.css'

interface RowProps {
  /** Of the lesson, or of a course's own item. */
  readonly id: string
  readonly title: string
  readonly says: string
  readonly number: number
  /** What stands at its end while nothing of it is done. */
  readonly minutes: string
  /** What a test finds it by. */
  readonly testId: string
  /** Opens it; undefined while it cannot be opened yet. */
  readonly onOpen: (() => void) | undefined
}

/** A line of a list of lessons. */
export function LessonRow({ id, title, says, number, minutes, testId, onOpen }: RowProps) {
  const progress = progressOf(useStore(progressStore), id)
  const { done, chosen, is_finished } = progress
  const hasBegun = done.length > 0 || Object.keys(chosen).length > 0
  const lacksGpu = useHasNoGpu()
  const left = hasBegun ? leftOf(id, progress, lacksGpu) : undefined
  return (
    <li>
      <button
        type="button"
        className="lesson-row"
        data-testid={testId}
        disabled={onOpen === undefined}
        onClick={onOpen}
      >
        <span className="lesson-number" data-finished={is_finished}>
          {is_finished ? <CircleCheck className="icon" aria-hidden="true" /> : number}
        </span>
        <span>
          <b>{title}</b>
          <span className="soft">{says}</span>
        </span>
        <span className="soft lesson-minutes" title={is_finished ? undefined : left?.words}>
          {is_finished
            ? 'finished'
            : left?.count === 0
              ? 'all read'
              : left
                ? `${left.count} left`
                : hasBegun
                  ? 'begun'
                  : minutes}
        </span>
      </button>
    </li>
  )
}

export function LessonList() {
  return (
    <ol className="lesson-list">
      {LESSONS.map(({ id, title, says, minutes }, i) => (
        <LessonRow
          key={id}
          id={id}
          title={title}
          says={says}
          number={i + 1}
          minutes={`${minutes} min`}
          testId={`lesson-${id}`}
          onOpen={() => openLesson(id)}
        />
      ))}
    </ol>
  )
}

function Sources({ sources }: Pick<LessonContent, 'sources'>) {
  return (
    <section className="lesson-sources">
      <h3>Sources</h3>
      <ul>
        {sources.map(({ title, where, url }) => (
          <li key={url + where}>
            {title}.{' '}
            <a href={url} target="_blank" rel="noopener">
              {where}
            </a>
          </li>
        ))}
      </ul>
    </section>
  )
}

/** The content of a lesson as a component that is loaded once. */
const contentOf = (lesson: Lesson) =>
  lazyPart(
    async () => {
      const { parts, Body, sources } = await lesson.load()
      const place = { id: lesson.id, title: lesson.title, parts: Object.keys(parts) }
      return function Content() {
        return (
          <LessonContext value={place}>
            <article className="lesson-text">
              <Body />
              <Sources sources={sources} />
            </article>
          </LessonContext>
        )
      }
    },
    { name: 'This lesson', fallback: <Opening /> },
  )

const contents = new Map<string, ReturnType<typeof contentOf>>()

/** What comes after a lesson or an item of a course. */
export interface Next {
  readonly title: string
  readonly open: () => void
}

/** Says that all is done, and leads on. */
export function LessonEnd({ id, next }: { readonly id: string; readonly next: Next | undefined }) {
  const progress = progressOf(useStore(progressStore), id)
  const { isRead, says } = endSays(id, progress, useHasNoGpu())
  return (
    <>
      <p
        role="status"
        className="lesson-finished"
        data-testid="lesson-finished"
        data-finished={isRead}
      >
        {says}
      </p>
      {next ? (
        <button type="button" className="lesson-next" data-testid="lesson-next" onClick={next.open}>
          Next: {next.title} <ArrowRight className="icon" aria-hidden="true" />
        </button>
      ) : null}
    </>
  )
}

/** The lesson after this one, outside of a course. */
export function nextLesson(lesson: Lesson): Next | undefined {
  const next = LESSONS[LESSONS.indexOf(lesson) + 1]
  return next && { title: next.title, open: () => openLesson(next.id) }
}

export function OpenLesson({ lesson }: { readonly lesson: Lesson }) {
  const Content = useMemo(() => {
    const known = contents.get(lesson.id) ?? contentOf(lesson)
    contents.set(lesson.id, known)
    return known
  }, [lesson])
  return <Content />
}
