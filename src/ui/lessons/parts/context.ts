// Tells the parts of a lesson which one they belong to.
import { createContext, useContext } from 'react'
import { useStore } from 'zustand'
import type { TriedRun } from '../../../document/course/progress.ts'
import {
  keepChoice,
  keepResult,
  keepRun,
  markDone,
  progressOf,
  progressStore,
} from '../base/progress.ts'

export interface LessonPlace {
  readonly id: string
  /** Its experiments are called so. */
  readonly title?: string
  /** Names of all its parts. */
  readonly parts: readonly string[]
}

export const LessonContext = createContext<LessonPlace>({ id: '', parts: [] })

/** Whether a part was done in this browser, and how to remember what was done. */
export function usePart(name: string) {
  const { id, title, parts } = useContext(LessonContext)
  const isDone = useStore(progressStore, (all) => progressOf(all, id).done.includes(name))
  const result = useStore(progressStore, (all) => progressOf(all, id).results[name])
  return {
    title,
    isDone,
    /** What the check said of the run that met it; undefined before, or where none was kept. */
    result,
    done: () => markDone(id, name, parts),
    chose: (index: number) => keepChoice(id, name, index),
    tried: (run: TriedRun) => keepRun(id, name, run),
    passed: (says: string, isOver: boolean) => keepResult(id, name, says, isOver),
  }
}
