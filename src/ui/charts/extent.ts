// Smallest and largest value of growing columns, scanned only once per entry.
import type { Columns } from './lines.ts'

interface Extent {
  length: number
  min: number
  max: number
}

const known = new WeakMap<Columns, Extent>()

/** [min, max] of the finite values; [Infinity, -Infinity] when there is none. */
export function extentOf(columns: Columns): readonly [number, number] {
  let extent = known.get(columns)
  if (!extent || extent.length > columns.length) {
    extent = { length: 0, min: Number.POSITIVE_INFINITY, max: Number.NEGATIVE_INFINITY }
    known.set(columns, extent)
  }
  for (; extent.length < columns.length; extent.length++) {
    const value = columns.values[extent.length]
    if (!Number.isFinite(value)) continue
    extent.min = Math.min(extent.min, value)
    extent.max = Math.max(extent.max, value)
  }
  return [extent.min, extent.max]
}
