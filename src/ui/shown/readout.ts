// Reads the numbers beside the lines: at the step under the pointer, else at the step that the page
// shows, else the newest.
import { useEffect, useState } from 'react'
import { type Columns, indexAt } from '../scales/columns.ts'
import { smoothed } from '../scales/smooth.ts'
import { seriesOf } from './run.ts'
import { uiStore } from './store.ts'

/** The step that read-outs are of; undefined for the newest. */
export function readStep(): number | undefined {
  const { hoverStep, atStep } = uiStore.getState()
  return hoverStep ?? atStep
}

/** The newest measurement at or before a step, or the newest of all; smoothed with a weight above
 * 0. */
export function valueAt(metric: string, step: number | undefined, weight = 0): number | undefined {
  return newestAt([metric], step, weight)
}

/** The same of several metrics that follow one another. */
export function newestAt(
  metrics: readonly string[],
  step: number | undefined,
  weight = 0,
): number | undefined {
  return newestIn(metrics.map(seriesOf), step, weight)
}

/** The same of columns, which may be another run's. */
export function newestIn(
  all: readonly (Columns | undefined)[],
  step: number | undefined,
  weight = 0,
): number | undefined {
  let [newest, value]: [number, number | undefined] = [-1, undefined]
  for (const columns of all) {
    if (!columns || columns.length === 0) continue
    const index = step === undefined ? columns.length - 1 : indexAt(columns, step)
    if (index >= 0 && columns.steps[index] > newest)
      [newest, value] = [columns.steps[index], smoothed(columns, weight).values[index]]
  }
  return value
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
