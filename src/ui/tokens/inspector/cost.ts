// Computes what a traced step cost, from the steps around it.
import type { Columns } from '../../scales/columns.ts'

const BEFORE = 8

/** Seconds of a traced step, and the median of the last few steps before it that were not traced;
 * undefined where either is not known, or the trace cost no time that such steps can show. */
export function traceCost(
  times: Columns | undefined,
  step: number,
  traced: readonly number[],
): { readonly seconds: number; readonly usual: number } | undefined {
  if (!times) return undefined
  const before: number[] = []
  let seconds: number | undefined
  for (let i = times.length - 1; i >= 0 && before.length < BEFORE; i--) {
    if (times.steps[i] === step) seconds = times.values[i]
    // Step 0 trains nothing.
    if (times.steps[i] < step && times.steps[i] > 0 && !traced.includes(times.steps[i]))
      before.push(times.values[i])
  }
  if (seconds === undefined || before.length === 0) return undefined
  before.sort((a, b) => a - b)
  const middle = before.length >> 1
  const usual = before.length % 2 === 1 ? before[middle] : (before[middle - 1] + before[middle]) / 2
  return seconds > usual ? { seconds, usual } : undefined
}
