// Finds the smallest and largest value of growing columns, scanned only once per entry.

import { type Columns, lowerBound } from './columns.ts'
import type { Domain } from './domain.ts'

export interface Extent {
  /** Of the finite values; Infinity and -Infinity when there is none. */
  min: number
  max: number
  /** Smallest value above 0; Infinity when there is none. */
  minPositive: number
  /** Finite values at or below 0: gaps on a logarithmic axis. */
  notPositive: number
}

interface Scan extends Extent {
  /** The next entry to look at. */
  next: number
  length: number
}

const WHOLE: Domain = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY]
/** The whole run, and what a zoom shows. */
const MAX_RANGES = 3
const known = new WeakMap<Columns, Map<string, Scan>>()

const begin = (columns: Columns, low: number): Scan => ({
  min: Number.POSITIVE_INFINITY,
  max: Number.NEGATIVE_INFINITY,
  minPositive: Number.POSITIVE_INFINITY,
  notPositive: 0,
  next: lowerBound(columns, low),
  length: columns.length,
})

/** Extent of the entries whose steps lie in `x`, ends included. */
export function extentIn(columns: Columns, x: Domain = WHOLE): Readonly<Extent> {
  const ranges = known.get(columns) ?? new Map<string, Scan>()
  known.set(columns, ranges)
  const key = `${x[0]} ${x[1]}`
  let scan = ranges.get(key)
  if (!scan || scan.length > columns.length) {
    scan = begin(columns, x[0])
    if (ranges.size >= MAX_RANGES) ranges.clear()
    ranges.set(key, scan)
  }
  const { steps, values, length } = columns
  scan.length = length
  for (; scan.next < length && steps[scan.next] <= x[1]; scan.next++) {
    const value = values[scan.next]
    if (!Number.isFinite(value)) continue
    if (value < scan.min) scan.min = value
    if (value > scan.max) scan.max = value
    if (value <= 0) scan.notPositive++
    else if (value < scan.minPositive) scan.minPositive = value
  }
  return scan
}

/** [min, max] of the finite values; [Infinity, -Infinity] when there is none. */
export function extentOf(columns: Columns): readonly [number, number] {
  const { min, max } = extentIn(columns)
  return [min, max]
}
