// Reads the numbers beside the lines: at the step under the pointer, else at the step that the page
// shows, else the newest; and says when they are written: together, and seldom enough to be read.
import { useEffect, useState, useSyncExternalStore } from 'react'
import type { LabState } from '../../page/state/store.ts'
import { type Columns, indexAt } from '../scales/columns.ts'
import { seriesOf } from './run.ts'
import { presentStore } from './shown.ts'
import { type UiState, uiStore } from './store.ts'

/** The step that read-outs are of; undefined for the newest. */
export function readStep(): number | undefined {
  const { hoverStep, atStep } = uiStore.getState()
  return hoverStep ?? atStep
}

/** The step that values beside lines are of: the one that is read out where the charts show it,
 * else the last that a zoom shows; undefined for the newest. */
export function lineStep(): number | undefined {
  const step = readStep()
  const { zoom } = uiStore.getState()
  if (!zoom) return step
  const { low, high = Number.POSITIVE_INFINITY } = zoom
  return step !== undefined && step >= low && step <= high ? step : zoom.high
}

/** The newest measurement at or before a step, or the newest of all. */
export const valueAt = (metric: string, step: number | undefined): number | undefined =>
  newestIn([seriesOf(metric)], step)

/** The same of columns that follow one another, which may be another run's. */
export const newestIn = (
  all: readonly (Columns | undefined)[],
  step: number | undefined,
): number | undefined => measuredIn(all, step)?.value

/** The same with the step that it was measured at. */
export function measuredIn(
  all: readonly (Columns | undefined)[],
  step: number | undefined,
): { readonly step: number; readonly value: number } | undefined {
  let found: { readonly step: number; readonly value: number } | undefined
  for (const columns of all) {
    if (!columns || columns.length === 0) continue
    const index = step === undefined ? columns.length - 1 : indexAt(columns, step)
    if (index < 0 || (found && columns.steps[index] <= found.step)) continue
    found = { step: columns.steps[index], value: columns.values[index] }
  }
  return found
}

/** Renders again after frames and after the shown step moved, at most once in `ms`, and once after
 * the last. */
export function useSlowFrame(ms: number): void {
  const [, setCount] = useState(0)
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const stop = uiStore.subscribe((now, before) => {
      if (timer !== undefined) return
      if (now.frame === before.frame && now.atStep === before.atStep) return
      timer = setTimeout(() => {
        timer = undefined
        setCount((count) => count + 1)
      }, ms)
    })
    return () => {
      stop()
      clearTimeout(timer)
    }
  }, [ms])
}

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
let written: LabState | undefined

/** The run as words were last written of it. What says a step, or a number of one, reads this: so
 * the page says one step everywhere, whatever else makes a part render. Another run is read at
 * once. */
export function writtenRun(): LabState {
  const run = presentStore.getState()
  // Every run has columns of its own.
  return written?.series === run.series ? written : run
}

function writeAll(): void {
  clearTimeout(timer)
  timer = undefined
  if (hasNews) pace++
  hasNews = false
  written = presentStore.getState()
  dueAt = performance.now() + TEXT_MS
  for (const write of writers) write()
}

/** Whether another step is read out: that is answered at once. */
const isAsked = (now: UiState, before: UiState) =>
  now.hoverStep !== before.hoverStep ||
  now.atStep !== before.atStep ||
  now.smoothing !== before.smoothing ||
  now.zoom !== before.zoom

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
    written = undefined
    dueAt = Number.NEGATIVE_INFINITY
  }
}

const paceNow = () => pace

/** Renders again when words are written: after redraws, seldom enough to be read, and when the page
 * shows another step. */
export const useTextPace = (): number => useSyncExternalStore(followWritten, paceNow, paceNow)
