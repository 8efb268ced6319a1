// Says when words that follow a run are written: together, and seldom enough to be read.
import { useSyncExternalStore } from 'react'
import { type UiState, uiStore } from './store.ts'

/** Numbers that change faster are not read; every write has the page lay out its lines again. */
export const TEXT_MS = 250
/** How long a redraw is waited for that would write the newest numbers along with its own
 * changes. */
const PATIENCE_MS = 150

const writers = new Set<() => void>()
/** Counts what was written of new steps, or of another step that the page shows. */
let pace = 0
let hasNews = false
let dueAt = Number.NEGATIVE_INFINITY
let timer: ReturnType<typeof setTimeout> | undefined

function writeAll(): void {
  clearTimeout(timer)
  timer = undefined
  if (hasNews) pace++
  hasNews = false
  dueAt = performance.now() + TEXT_MS
  for (const write of writers) write()
}

/** Whether another step is read out: that is answered at once. */
const isAsked = (now: UiState, before: UiState) =>
  now.hoverStep !== before.hoverStep ||
  now.atStep !== before.atStep ||
  now.smoothing !== before.smoothing

function follow(now: UiState, before: UiState): void {
  hasNews ||= now.frame !== before.frame || now.atStep !== before.atStep
  if (isAsked(now, before)) return writeAll()
  if (now.frame === before.frame) return
  const rest = dueAt - performance.now()
  if (rest <= 0) writeAll()
  else timer ??= setTimeout(writeAll, rest + PATIENCE_MS)
}

let stop: (() => void) | undefined

/** Calls `write` now, when another step is read out, and after redraws at most every TEXT_MS;
 * returns what ends that. */
export function keepWritten(write: () => void): () => void {
  write()
  return followWritten(write)
}

/** The same without writing now. */
function followWritten(write: () => void): () => void {
  writers.add(write)
  stop ??= uiStore.subscribe(follow)
  return () => {
    writers.delete(write)
    if (writers.size > 0) return
    stop?.()
    stop = undefined
    clearTimeout(timer)
    timer = undefined
    dueAt = Number.NEGATIVE_INFINITY
  }
}

const paceNow = () => pace

/** Renders again when words are written: after redraws, seldom enough to be read, and when the page
 * shows another step. */
export const useTextPace = (): number => useSyncExternalStore(followWritten, paceNow, paceNow)
