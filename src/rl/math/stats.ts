// Computes plain statistics of a list of numbers, in float64; their masked siblings are in
// masked.ts.

export type Numbers = ArrayLike<number>

/** Σ x; 0 for no numbers. */
export function sum(x: Numbers): number {
  let total = 0
  for (let i = 0; i < x.length; i++) total += x[i]
  return total
}

/** NaN for no numbers, as torch.mean. */
export function mean(x: Numbers): number {
  return sum(x) / x.length
}

/** Variance: divisor n - 1 when `unbiased` (torch's default; NaN for one number), else n (numpy's
 * default). */
export function variance(x: Numbers, { unbiased }: { unbiased: boolean }): number {
  const centre = mean(x)
  let squares = 0
  for (let i = 0; i < x.length; i++) squares += (x[i] - centre) ** 2
  return squares / (x.length - (unbiased ? 1 : 0))
}

/** Largest number; -Infinity for none. A loop: Math.max(...x) overflows the stack on a large
 * batch. */
export function maximum(x: Numbers): number {
  let largest = Number.NEGATIVE_INFINITY
  for (let i = 0; i < x.length; i++) {
    if (x[i] > largest) largest = x[i]
    else if (Number.isNaN(x[i])) return Number.NaN
  }
  return largest
}

/** Smallest number; Infinity for none. */
export function minimum(x: Numbers): number {
  let smallest = Number.POSITIVE_INFINITY
  for (let i = 0; i < x.length; i++) {
    if (x[i] < smallest) smallest = x[i]
    else if (Number.isNaN(x[i])) return Number.NaN
  }
  return smallest
}

/** Share of numbers for which `test` holds. */
export function fraction(x: Numbers, test: (value: number) => boolean): number {
  let hits = 0
  for (let i = 0; i < x.length; i++) if (test(x[i])) hits++
  return hits / x.length
}

/** The numbers whose mask is not 0, in order. */
export function select(x: Numbers, mask: Numbers): Float64Array {
  const picked = new Float64Array(x.length)
  let count = 0
  for (let i = 0; i < x.length; i++) if (mask[i] !== 0) picked[count++] = x[i]
  return picked.subarray(0, count)
}
