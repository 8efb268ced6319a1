// Chooses the rows of a long column that are kept when it is full: enough to draw it, with every
// extreme.

/** Rows of one metric that are kept at most. */
export const MAX_ROWS = 2 ** 14
/** The newest rows, which are kept one by one: what looks back a little finds every step. */
export const WHOLE_ROWS = 2 ** 10
/** Rows that are left after thinning, at most. */
const THINNED_ROWS = MAX_ROWS / 2

/** What a column has lost. */
export interface Thinned {
  /** Steps per group, counted from step 0; of each group the first, the lowest and the highest
   * value are kept. A power of two. */
  readonly every: number
  /** The last step that this holds for; all rows of later ones are there. */
  readonly until: number
}

/** Columns of (step, value), the first `length` entries valid, steps ascending. */
export interface Rows {
  readonly steps: Float64Array<ArrayBuffer>
  readonly values: Float64Array<ArrayBuffer>
  readonly length: number
}

/** Indices of the rows among the first `end` that are kept where each `every` steps share a bucket:
 * of a bucket the first, the lowest, the highest, and the first that is not finite, so that
 * extremes and gaps stay. Ascending, each once. */
export function keptRows({ steps, values }: Rows, end: number, every: number): number[] {
  const kept: number[] = []
  for (let i = 0; i < end; ) {
    const first = i
    const bucket = Math.floor(steps[i] / every)
    let [low, high, gap] = [-1, -1, -1]
    for (; i < end && Math.floor(steps[i] / every) === bucket; i++) {
      const value = values[i]
      if (!Number.isFinite(value)) {
        if (gap < 0) gap = i
        continue
      }
      if (low < 0 || value < values[low]) low = i
      if (high < 0 || value > values[high]) high = i
    }
    const own = [first, low, high, gap].filter((row) => row >= 0).sort((a, b) => a - b)
    for (const row of own) if (kept[kept.length - 1] !== row) kept.push(row)
  }
  return kept
}

/** Columns with at most half of MAX_ROWS: the newest WHOLE_ROWS as they are, of the others those
 * that `keptRows` names in the narrowest buckets that suffice. Follows from the rows and from how
 * they were thinned before, and from nothing else, so that a run that was cut short and continues
 * keeps the same rows as one that was not. */
export function thin(
  rows: Rows,
  before: Thinned | undefined,
): Rows & { readonly thinned: Thinned } {
  const end = Math.max(0, rows.length - WHOLE_ROWS)
  let every = before?.every ?? 2
  let kept = keptRows(rows, end, every)
  while (kept.length > THINNED_ROWS - WHOLE_ROWS) {
    every *= 2
    kept = keptRows(rows, end, every)
  }
  const own = [...kept, ...Array.from({ length: rows.length - end }, (_, i) => end + i)]
  const take = (column: Float64Array) => Float64Array.from(own, (row) => column[row])
  return {
    steps: take(rows.steps),
    values: take(rows.values),
    length: own.length,
    thinned: { every, until: rows.steps[end - 1] ?? before?.until ?? 0 },
  }
}

/** Whether this may be what a column has lost. */
export const isThinned = (value: unknown): value is Thinned => {
  if (typeof value !== 'object' || value === null) return false
  const { every, until } = value as Partial<Record<keyof Thinned, unknown>>
  return Number.isSafeInteger(every) && Number(every) >= 2 && Number.isSafeInteger(until)
}

/** What several columns have lost together; undefined where they are whole. */
export function thinnedOf(
  columns: Iterable<{ readonly thinned?: Thinned | undefined }>,
): Thinned | undefined {
  let all: Thinned | undefined
  for (const { thinned } of columns)
    if (thinned)
      all = {
        every: Math.max(all?.every ?? 0, thinned.every),
        until: Math.max(all?.until ?? 0, thinned.until),
      }
  return all
}

/** `toLocaleString` looks its language up each time, and charts ask at every frame. */
const grouped = new Intl.NumberFormat('en-GB')

/** The same as a sentence; '' for whole columns. */
export const thinnedWords = (thinned: Thinned | undefined): string =>
  thinned
    ? `Up to step ${grouped.format(thinned.until)} not every step is kept any more: of each ${grouped.format(thinned.every)} the first, the lowest and the highest value.`
    : ''
