// Remembers in this browser which questions and tasks of the lessons are done, and how.
import * as z from 'zod/mini'
import { createStore } from 'zustand/vanilla'
import {
  type LessonProgress,
  lessonProgressSchema,
  mergedProgress,
  NOTHING_DONE,
  type Progress,
  type TriedRun,
  withChoice,
} from '../../../document/course/progress.ts'
import { remembered } from '../../../page/state/remembered.ts'

const kept = remembered(
  'lessons',
  z.record(z.string(), z.catch(z.optional(lessonProgressSchema), undefined)),
  {},
)

/** What was remembered, lesson by lesson. */
export const readProgress = (): Progress =>
  Object.fromEntries(
    Object.entries(kept.get()).flatMap(([lesson, done]) => (done ? [[lesson, done]] : [])),
  )

export const progressStore = createStore<Progress>(() => readProgress())

export const progressOf = (progress: Progress, lesson: string): LessonProgress =>
  progress[lesson] ?? NOTHING_DONE

function set(lesson: string, change: Partial<LessonProgress>): void {
  const before = progressOf(progressStore.getState(), lesson)
  progressStore.setState({ [lesson]: { ...before, ...change } })
  kept.set(progressStore.getState())
}

/** Remembers a choice of a question, right or wrong. */
export function keepChoice(lesson: string, part: string, index: number): void {
  const { chosen } = progressOf(progressStore.getState(), lesson)
  set(lesson, { chosen: withChoice(chosen, part, index) })
}

/** Remembers the run that met what a part asks; the first one stays. */
export function keepRun(lesson: string, part: string, run: TriedRun): void {
  const { runs } = progressOf(progressStore.getState(), lesson)
  if (!runs[part]) set(lesson, { runs: { ...runs, [part]: run } })
}

/** Keeps what the check said of the last run that met it. A run that is not over may be given up:
 * it does not replace the result of another one. */
export function keepResult(lesson: string, part: string, says: string, isOver: boolean): void {
  const { results } = progressOf(progressStore.getState(), lesson)
  if (results[part] === undefined || (isOver && results[part] !== says))
    set(lesson, { results: { ...results, [part]: says } })
}

/** Marks a part of a lesson; the lesson is finished when `all` of its parts are. */
export function markDone(lesson: string, part: string, all: readonly string[]): void {
  const { done } = progressOf(progressStore.getState(), lesson)
  if (done.includes(part)) return
  const now = [...done, part]
  set(lesson, { done: now, is_finished: all.every((name) => now.includes(name)) })
}

/** Adds what a file brought. */
export function bringProgress(other: Progress): void {
  progressStore.setState(mergedProgress(progressStore.getState(), other), true)
  kept.set(progressStore.getState())
}
