// Remembers in this browser which questions and tasks of the lessons are done.
import { createStore } from 'zustand/vanilla'

interface LessonProgress {
  /** Names of its parts. */
  readonly done: readonly string[]
  readonly is_finished: boolean
}
export type Progress = Readonly<Record<string, LessonProgress>>

const STORAGE_KEY = 'understory.lessons'
const NOTHING: LessonProgress = { done: [], is_finished: false }

const isProgress = (value: unknown): value is LessonProgress =>
  typeof value === 'object' &&
  value !== null &&
  Array.isArray(Reflect.get(value, 'done')) &&
  Reflect.get(value, 'done').every((name: unknown) => typeof name === 'string') &&
  typeof Reflect.get(value, 'is_finished') === 'boolean'

/** What was remembered; nothing where storage is off or holds something else. */
export function readProgress(text: string | null): Progress {
  try {
    const stored: unknown = JSON.parse(text ?? '{}')
    if (typeof stored !== 'object' || stored === null) return {}
    return Object.fromEntries(Object.entries(stored).filter(([, value]) => isProgress(value)))
  } catch {
    return {}
  }
}

function remembered(): Progress {
  try {
    return readProgress(localStorage.getItem(STORAGE_KEY))
  } catch {
    return {}
  }
}

export const progressStore = createStore<Progress>(() => remembered())

export const progressOf = (progress: Progress, lesson: string): LessonProgress =>
  progress[lesson] ?? NOTHING

/** Marks a part of a lesson; the lesson is finished when `all` of its parts are. */
export function markDone(lesson: string, part: string, all: readonly string[]): void {
  const { done } = progressOf(progressStore.getState(), lesson)
  if (done.includes(part)) return
  const now = [...done, part]
  const is_finished = all.every((name) => now.includes(name))
  progressStore.setState({ [lesson]: { done: now, is_finished } })
  try {
    localStorage.setItem(STORAGE_KEY, JSON.stringify(progressStore.getState()))
  } catch {
    // Storage is off: the mark lasts as long as the page.
  }
}
