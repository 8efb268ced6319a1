// Holds the course that the page shows: of its link, or of a file that was opened in this browser.
import * as z from 'zod/mini'
import { createStore } from 'zustand/vanilla'
import {
  type Course,
  itemId,
  type ParsedCourse,
  parseCourse,
} from '../../document/course/course.ts'
import { decodeCourse } from '../../document/course/course_link.ts'
import type { Progress } from '../../document/course/progress.ts'
import { viewParts, withParts } from '../../document/links/view.ts'
import { NO_OPTIONS, optionParts, type ViewOptions } from '../../document/links/view_options.ts'
import { remembered } from '../../page/state/remembered.ts'
import { shareStore } from '../../page/state/share_store.ts'
import { progressOf } from '../lessons/base/progress.ts'
import { ALL_LESSONS, openLesson } from '../open/open_lesson.ts'

/** In place of a course in the address: the one that this browser keeps. */
const KEPT = 'kept'
const kept = remembered('course', z.unknown(), undefined)

interface CourseState {
  readonly course: Course | undefined
  /** Why the course of the address is not shown. */
  readonly problem: string | undefined
}

const NONE: CourseState = { course: undefined, problem: undefined }

/** One thing that is wrong with a document, in a sentence. */
export const issueWords = ({ path, message }: { path: string; message: string }): string =>
  path === '' ? message : `${path}: ${message}`

function stateOf(parsed: ParsedCourse): CourseState {
  if (parsed.ok) return { course: parsed.course, problem: undefined }
  const [issue] = parsed.issues
  return { course: undefined, problem: `The course was not opened: ${issueWords(issue)}.` }
}

function courseIn(hash: string): CourseState {
  const { course } = viewParts(hash)
  if (course === undefined) return NONE
  return stateOf(course === KEPT ? parseCourse(kept.get()) : decodeCourse(course))
}

export const courseStore = createStore<CourseState>(() => courseIn(globalThis.location?.hash ?? ''))

/** Shows the page as a course asks for, and says so in the address. */
function change(state: CourseState, address: string | undefined, options: ViewOptions): void {
  const hash = withParts(location.hash, { ...optionParts(options), course: address })
  history.replaceState(history.state, '', `${location.pathname}${location.search}${hash}`)
  shareStore.setState({ options })
  courseStore.setState(state)
  openLesson(ALL_LESSONS)
}

/** Opens a course from a file, or the one that was just made. */
export function openCourse(course: Course): void {
  kept.set(course)
  change({ course, problem: undefined }, KEPT, { ...NO_OPTIONS, ...viewOf(course) })
}

/** Back to the page without a course; progress stays. */
export const closeCourse = (): void => change(NONE, undefined, NO_OPTIONS)

export const viewOf = ({ lock, hide }: Pick<Course, 'lock' | 'hide'>) => ({ lock, hide })

/** Whether an item can be opened now: where the order counts, after all before it. */
export const isOpenable = (course: Course, index: number, progress: Progress): boolean =>
  !course.in_order ||
  course.items
    .slice(0, index)
    .every((_, before) => progressOf(progress, itemId(course, before)).is_finished)
