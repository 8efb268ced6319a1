// Holds the course that is being made, as long as the page is open. It begins with the open course,
// where there is one.
import { createStore } from 'zustand/vanilla'
import {
  COURSE_FORMAT,
  type Course,
  type CourseItem,
  type CourseQuestion,
  type ParsedCourse,
  parseCourse,
} from '../../document/course/course.ts'
import { courseStore } from './course_store.ts'

/** An item with a key of its own, so that fields keep their focus when items move. */
export interface DraftItem {
  readonly key: number
  readonly item: CourseItem
}

export interface Draft extends Omit<Course, 'format' | 'items'> {
  readonly items: readonly DraftItem[]
}

let keys = 0
const keyed = (item: CourseItem): DraftItem => ({ key: keys++, item })

function firstDraft(): Draft {
  const { course } = courseStore.getState()
  if (course) {
    const { format: _, items, ...rest } = course
    return { ...rest, items: items.map(keyed) }
  }
  return { title: '', by: '', says: '', in_order: false, lock: [], hide: [], items: [] }
}

export const draftStore = createStore<Draft>(() => firstDraft())

export const changeDraft = (change: Partial<Draft>): void => draftStore.setState(change)

export const addItem = (item: CourseItem): void =>
  changeDraft({ items: [...draftStore.getState().items, keyed(item)] })

export const changeItem = (key: number, item: CourseItem): void =>
  changeDraft({
    items: draftStore.getState().items.map((one) => (one.key === key ? { key, item } : one)),
  })

export const removeItem = (key: number): void =>
  changeDraft({ items: draftStore.getState().items.filter((one) => one.key !== key) })

/** Exchanges an item with the one before it. */
export function moveUp(index: number): void {
  const items = [...draftStore.getState().items]
  const [item] = items.splice(index, 1)
  items.splice(index - 1, 0, item)
  changeDraft({ items })
}

export const NEW_QUESTION: CourseQuestion = {
  asks: '',
  choices: [],
  right: 0,
  because: '',
  hint: '',
}

/** The course of a draft, or what is still missing. */
export const courseOf = ({ items, ...rest }: Draft): ParsedCourse =>
  parseCourse({ format: COURSE_FORMAT, ...rest, items: items.map(({ item }) => item) })
