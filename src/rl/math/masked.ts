// Computes sums, means and whitening over the tokens that a mask selects, as
// verl/utils/torch_functional.py defines them. Masks hold 0 or 1; values where the mask is 0 are
// never read, NaN included. Float64.

/** Keeps a mean over no tokens at 0. With float64 masks, as here, verl's means are smaller by
 * 1e-8/N too. */
const COUNT_EPSILON = 1e-8
/** Inside the square root of `maskedWhiten`. */
export const VARIANCE_EPSILON = 1e-8

function sameLength(x: ArrayLike<number>, mask: ArrayLike<number>): void {
  if (x.length !== mask.length)
    throw new RangeError(`expected a mask of ${x.length} numbers, found ${mask.length}`)
}

/** Σ m (verl masked_sum over ones). */
function count(mask: ArrayLike<number>): number {
  let sum = 0
  for (let i = 0; i < mask.length; i++) sum += mask[i]
  return sum
}

/** Σ m·x. Throws RangeError if the lengths differ. */
export function maskedSum(x: ArrayLike<number>, mask: ArrayLike<number>): number {
  sameLength(x, mask)
  let sum = 0
  for (let i = 0; i < x.length; i++) if (mask[i] !== 0) sum += x[i] * mask[i]
  return sum
}

/** Σ m·x / (Σ m + 1e-8): 0 where nothing is selected. */
export function maskedMean(x: ArrayLike<number>, mask: ArrayLike<number>): number {
  return maskedSum(x, mask) / (count(mask) + COUNT_EPSILON)
}

/** maskedMean((x - mean)²), times N/(N-1) unless `unbiased` is false. The unbiased variance of
 * fewer than two tokens throws RangeError, as verl's masked_var raises ValueError. */
export function maskedVar(
  x: ArrayLike<number>,
  mask: ArrayLike<number>,
  { unbiased = true }: { unbiased?: boolean } = {},
): number {
  const mean = maskedMean(x, mask)
  const squares = Float64Array.from(x, (value) => (value - mean) ** 2)
  const variance = maskedMean(squares, mask)
  if (!unbiased) return variance
  const tokens = count(mask)
  if (tokens < 2)
    throw new RangeError(`the unbiased variance needs 2 tokens or more, the mask selects ${tokens}`)
  return variance * (tokens / (tokens - 1))
}

/** (x - mean)/sqrt(var + 1e-8) with the mean and the unbiased variance of the selected tokens;
 * `shiftMean: false` adds the mean back. All positions are returned: those where the mask is 0 are
 * shifted and scaled too, not cleared (verl masked_whiten). Throws RangeError where `maskedVar`
 * does. */
export function maskedWhiten(
  x: ArrayLike<number>,
  mask: ArrayLike<number>,
  { shiftMean = true }: { shiftMean?: boolean } = {},
): Float64Array {
  const mean = maskedMean(x, mask)
  const scale = 1 / Math.sqrt(maskedVar(x, mask) + VARIANCE_EPSILON)
  const offset = shiftMean ? 0 : mean
  return Float64Array.from(x, (value) => (value - mean) * scale + offset)
}

/** The number of rows of a [rows, columns] array. Throws RangeError if it is not whole. */
export function rowCount(x: ArrayLike<number>, columns: number): number {
  const rows = x.length / columns
  if (!Number.isInteger(rows) || !(columns > 0))
    throw new RangeError(`expected rows of ${columns} columns, found ${x.length} numbers`)
  return rows
}

/** Σ_t m·x of each row: [rows, columns] → [rows]. */
export function maskedSumRows(
  x: ArrayLike<number>,
  mask: ArrayLike<number>,
  columns: number,
): Float64Array {
  sameLength(x, mask)
  const sums = new Float64Array(rowCount(x, columns))
  for (let i = 0; i < x.length; i++)
    if (mask[i] !== 0) sums[Math.floor(i / columns)] += x[i] * mask[i]
  return sums
}

/** Σ_t m·x / (Σ_t m + 1e-8) of each row: [rows, columns] → [rows]; 0 for a row without tokens. */
export function maskedMeanRows(
  x: ArrayLike<number>,
  mask: ArrayLike<number>,
  columns: number,
): Float64Array {
  const counts = maskedSumRows(mask, mask, columns)
  return maskedSumRows(x, mask, columns).map((sum, b) => sum / (counts[b] + COUNT_EPSILON))
}

/** Σ_b m·x / (Σ_b m + 1e-8) of each column: [rows, columns] → [columns]. verl's masked_mean along
 * axis 0; only `lab conform` calls it. */
export function maskedMeanColumns(
  x: ArrayLike<number>,
  mask: ArrayLike<number>,
  columns: number,
): Float64Array {
  sameLength(x, mask)
  rowCount(x, columns)
  const sums = new Float64Array(columns)
  const counts = new Float64Array(columns)
  for (let i = 0; i < x.length; i++) {
    if (mask[i] === 0) continue
    sums[i % columns] += x[i] * mask[i]
    counts[i % columns] += mask[i]
  }
  return sums.map((sum, t) => sum / (counts[t] + COUNT_EPSILON))
}
