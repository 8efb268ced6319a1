// Lessons beside the lab: the list, and the one that is open.
import { ArrowLeft, ArrowRight, CircleCheck, X } from 'lucide-react'
import { useEffect, useMemo, useRef } from 'react'
import { useStore } from 'zustand'
import { ALL_LESSONS, openLesson, openLessonStore } from '../open/open_lesson.ts'
import { lazyPart } from '../part/lazy_part.tsx'
import type { Lesson, LessonContent } from './base/lesson.ts'
import { progressOf, progressStore } from './base/progress.ts'
import { LESSONS, lessonOf } from './lessons.ts'
import { LessonContext } from './parts/context.ts'
import './lessons.css'

const selectOpen = ({ open }: { readonly open: string | undefined }) => open

function Row({ lesson, number }: { readonly lesson: Lesson; readonly number: number }) {
  const { done, is_finished } = progressOf(useStore(progressStore), lesson.id)
  return (
    <li>
      <button
        type="button"
        className="lesson-row"
        data-testid={`lesson-${lesson.id}`}
        onClick={() => openLesson(lesson.id)}
      >
        <span className="lesson-number" data-finished={is_finished}>
          {is_finished ? <CircleCheck className="icon" aria-hidden="true" /> : number}
        </span>
        <span>
          <b>{lesson.title}</b>
          <span className="soft">{lesson.says}</span>
        </span>
        <span className="soft lesson-minutes">
          {is_finished ? 'finished' : done.length > 0 ? 'begun' : `${lesson.minutes} min`}
        </span>
      </button>
    </li>
  )
}

function List() {
  return (
    <>
      <p className="soft">
        Each has text to read, questions, and something to train on this machine. What you finished
        is remembered in this browser alone.
      </p>
      <ol className="lesson-list">
        {LESSONS.map((lesson, i) => (
          <Row key={lesson.id} lesson={lesson} number={i + 1} />
        ))}
      </ol>
    </>
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
      const place = { id: lesson.id, parts: Object.keys(parts) }
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
    { name: 'This lesson', fallback: <p className="soft">Opening …</p> },
  )

const contents = new Map<string, ReturnType<typeof contentOf>>()

function OpenLesson({ lesson }: { readonly lesson: Lesson }) {
  const Content = useMemo(() => {
    const known = contents.get(lesson.id) ?? contentOf(lesson)
    contents.set(lesson.id, known)
    return known
  }, [lesson])
  const { is_finished } = progressOf(useStore(progressStore), lesson.id)
  const next = LESSONS[LESSONS.indexOf(lesson) + 1]
  return (
    <>
      <Content />
      <p
        role="status"
        className="lesson-finished"
        data-testid="lesson-finished"
        data-finished={is_finished}
      >
        {is_finished ? 'Finished: every question answered, everything tried.' : ''}
      </p>
      {next ? (
        <button type="button" className="lesson-next" onClick={() => openLesson(next.id)}>
          Next: {next.title} <ArrowRight className="icon" aria-hidden="true" />
        </button>
      ) : null}
    </>
  )
}

/** A name that no lesson has shows the list. */
export function Lessons() {
  const open = useStore(openLessonStore, selectOpen)
  const lesson = lessonOf(open ?? '')
  const panel = useRef<HTMLElement>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: another lesson begins at its top.
  useEffect(() => {
    if (panel.current) panel.current.scrollTop = 0
  }, [open])
  if (open === undefined) return null
  return (
    <aside ref={panel} className="card lessons" aria-label="Lessons" data-testid="lessons">
      <div className="lessons-head">
        {lesson ? (
          <button
            type="button"
            className="plain"
            data-testid="all-lessons"
            onClick={() => openLesson(ALL_LESSONS)}
          >
            <ArrowLeft className="icon" aria-hidden="true" /> All lessons
          </button>
        ) : null}
        <h2>{lesson ? lesson.title : 'Lessons'}</h2>
        {lesson ? <span className="soft">about {lesson.minutes} minutes</span> : null}
        <button
          type="button"
          className="plain lessons-close"
          aria-label="Close the lessons"
          data-testid="close-lessons"
          onClick={() => openLesson(undefined)}
        >
          <X className="icon" aria-hidden="true" />
        </button>
      </div>
      {lesson ? <OpenLesson key={lesson.id} lesson={lesson} /> : <List />}
    </aside>
  )
}
