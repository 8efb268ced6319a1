// Draws the panel beside the lab in which lessons and courses are taken, made and handed in.
import { ArrowLeft, ChevronDown, ChevronUp, X } from 'lucide-react'
import { type ReactNode, type RefObject, useEffect, useRef, useState } from 'react'
import { useStore } from 'zustand'
import { type Course, itemId } from '../../document/course/course.ts'
import { LOW_WINDOW, useMedia } from '../kit/use_media.ts'
import { progressStore } from '../lessons/base/progress.ts'
import { LessonEnd, type Next, nextLesson, OpenLesson } from '../lessons/Lessons.tsx'
import { lessonOf } from '../lessons/lessons.ts'
import { ALL_LESSONS, openLesson, openLessonStore } from '../open/open_lesson.ts'
import { lazyPart, Opening } from '../part/lazy_part.tsx'
import { courseStore, isOpenable } from './course_store.ts'
import { itemTitle, openItem } from './items.ts'
import { Lists } from './Lists.tsx'
import { OwnItem } from './OwnItem.tsx'
import { CHECK_CODE, HAND_IN, itemOfPage, MAKE_COURSE } from './pages.ts'
import '../lessons/lessons.css'
import './course.css'

const later = (name: string, load: () => Promise<() => ReactNode>) =>
  lazyPart(load, { name, fallback: <Opening /> })

/** What few visitors open. */
const PAGES: Readonly<
  Record<string, { readonly title: string; readonly Body: (props: object) => ReactNode }>
> = {
  [HAND_IN]: {
    title: 'Hand in',
    Body: later('Handing in', async () => (await import('./HandIn.tsx')).HandIn),
  },
  [CHECK_CODE]: {
    title: 'Check a code',
    Body: later('Checking', async () => (await import('./CheckCode.tsx')).CheckCode),
  },
  [MAKE_COURSE]: {
    title: 'Make a course',
    Body: later('The course', async () => (await import('./MakeCourse.tsx')).MakeCourse),
  },
}

const selectOpen = ({ open }: { readonly open: string | undefined }) => open
const selectCourse = ({ course }: { readonly course: Course | undefined }) => course

interface Page {
  readonly title: string
  readonly minutes?: number
  readonly body: ReactNode
}

/** The item after `index`, where it can be opened. */
function useNext(course: Course | undefined, index: number): Next | undefined {
  const progress = useStore(progressStore)
  if (!course || index < 0 || index + 1 >= course.items.length) return undefined
  if (!isOpenable(course, index + 1, progress)) return undefined
  return {
    title: itemTitle(course.items[index + 1]),
    open: () => openItem(course.items[index + 1], index + 1),
  }
}

/** What is open; a name that nothing has shows the lists. */
function usePage(open: string): Page {
  const course = useStore(courseStore, selectCourse)
  const lesson = lessonOf(open)
  const own = itemOfPage(open)
  const index = lesson
    ? (course?.items.findIndex((item) => item.kind === 'lesson' && item.lesson === open) ?? -1)
    : (own ?? -1)
  const next = useNext(course, index)
  if (lesson) {
    const { id, title, minutes } = lesson
    const after = index >= 0 ? next : nextLesson(lesson)
    const body = (
      <>
        <OpenLesson key={id} lesson={lesson} />
        <LessonEnd id={id} next={after} />
      </>
    )
    return { title, minutes, body }
  }
  const item = own === undefined ? undefined : course?.items[own]
  if (course && item && item.kind !== 'lesson') {
    const id = itemId(course, index)
    const body = (
      <>
        <OwnItem key={id} item={item} id={id} />
        <LessonEnd id={id} next={next} />
      </>
    )
    return { title: item.title, body }
  }
  if (!Object.hasOwn(PAGES, open)) return { title: 'Lessons', body: <Lists /> }
  const { title, Body } = PAGES[open]
  return { title, body: <Body /> }
}

interface FoldProps {
  readonly isHigh: boolean
  readonly onFold: () => void
}

/** Where the lessons are a sheet: makes it lower, to see the run, or higher, to read. */
function FoldSheet({ isHigh, onFold }: FoldProps) {
  const Arrow = isHigh ? ChevronDown : ChevronUp
  return (
    <button
      type="button"
      className="plain lessons-fold"
      data-testid="fold-lessons"
      onClick={onFold}
    >
      <Arrow className="icon" aria-hidden="true" />
      <span>{isHigh ? 'Lower' : 'Higher'}</span>
    </button>
  )
}

/** Focus goes back to the button that opens it; a page in a frame has none. */
function closeLessons(): void {
  openLesson(undefined)
  document.querySelector<HTMLElement>('.lessons-button')?.focus()
}

/** Escape closes the panel from within it, and from where nothing has the focus; what is open above
 * it is closed first. */
function useEscape(panel: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    const close = (event: KeyboardEvent) => {
      if (event.key !== 'Escape' || event.defaultPrevented) return
      if (document.querySelector(':is(dialog[open], :popover-open)')) return
      const { activeElement } = document
      if (activeElement !== document.body && !panel.current?.contains(activeElement)) return
      event.preventDefault()
      closeLessons()
    }
    document.addEventListener('keydown', close)
    return () => document.removeEventListener('keydown', close)
  }, [panel])
}

function Open({ open }: { readonly open: string }) {
  const panel = useRef<HTMLElement>(null)
  const heading = useRef<HTMLHeadingElement>(null)
  useEscape(panel)
  // biome-ignore lint/correctness/useExhaustiveDependencies: another page begins at its top.
  useEffect(() => {
    if (panel.current) panel.current.scrollTop = 0
    // What a link opens with the page leaves the focus at the page's beginning.
    if (navigator.userActivation?.hasBeenActive) heading.current?.focus({ preventScroll: true })
  }, [open])
  const { title, minutes, body } = usePage(open)
  const isList = title === 'Lessons'
  // Half of a low window is a slot; until someone says otherwise, it is for the lesson.
  const isLow = useMedia(LOW_WINDOW)
  const [chosen, setChosen] = useState<boolean>()
  const isHigh = chosen ?? isLow
  return (
    <aside
      ref={panel}
      className="card lessons"
      aria-label="Lessons"
      data-testid="lessons"
      data-is-high={isHigh}
    >
      <div className="lessons-head">
        {isList ? null : (
          <button
            type="button"
            className="plain"
            data-testid="all-lessons"
            onClick={() => openLesson(ALL_LESSONS)}
          >
            <ArrowLeft className="icon" aria-hidden="true" />
            <span>All lessons</span>
          </button>
        )}
        <h2 ref={heading} tabIndex={-1}>
          {title}
        </h2>
        {minutes === undefined ? null : <span className="soft">about {minutes} minutes</span>}
        <FoldSheet isHigh={isHigh} onFold={() => setChosen(!isHigh)} />
        <button
          type="button"
          className="plain lessons-close"
          aria-label="Close the lessons"
          data-testid="close-lessons"
          onClick={closeLessons}
        >
          <X className="icon" aria-hidden="true" />
        </button>
      </div>
      {body}
    </aside>
  )
}

export function LessonsPanel() {
  const open = useStore(openLessonStore, selectOpen)
  return open === undefined ? null : <Open open={open} />
}
