// Tells the parts of a lesson which one they belong to.
import { createContext, useContext } from 'react'
import { useStore } from 'zustand'
import { markDone, progressOf, progressStore } from '../base/progress.ts'

export interface LessonPlace {
  readonly id: string
  /** Names of all its parts. */
  readonly parts: readonly string[]
}

export const LessonContext = createContext<LessonPlace>({ id: '', parts: [] })

/** Whether a part was done in this browser, and how to say that it is. */
export function usePart(name: string): readonly [isDone: boolean, done: () => void] {
  const { id, parts } = useContext(LessonContext)
  const isDone = useStore(progressStore, (all) => progressOf(all, id).done.includes(name))
  return [isDone, () => markDone(id, name, parts)]
}
