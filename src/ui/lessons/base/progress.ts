// Remembers in this browser which questions and tasks of the lessons are done.
import * as z from 'zod/mini'
import { createStore } from 'zustand/vanilla'
import { remembered } from '../../../page/state/remembered.ts'

const lessonSchema = z.object({
  /** Names of its parts. */
  done: z.array(z.string()),
  is_finished: z.boolean(),
})
type LessonProgress = z.infer<typeof lessonSchema>
export type Progress = Readonly<Record<string, LessonProgress>>

const NOTHING: LessonProgress = { done: [], is_finished: false }
const kept = remembered(
  'lessons',
  z.record(z.string(), z.catch(z.optional(lessonSchema), undefined)),
  {},
)

/** What was remembered, lesson by lesson. */
export const readProgress = (): Progress =>
  Object.fromEntries(
    Object.entries(kept.get()).flatMap(([lesson, done]) => (done ? [[lesson, done]] : [])),
  )

export const progressStore = createStore<Progress>(() => readProgress())

export const progressOf = (progress: Progress, lesson: string): LessonProgress =>
  progress[lesson] ?? NOTHING

/** Marks a part of a lesson; the lesson is finished when `all` of its parts are. */
export function markDone(lesson: string, part: string, all: readonly string[]): void {
  const { done } = progressOf(progressStore.getState(), lesson)
  if (done.includes(part)) return
  const now = [...done, part]
  const is_finished = all.every((name) => now.includes(name))
  progressStore.setState({ [lesson]: { done: now, is_finished } })
  kept.set(progressStore.getState())
}
