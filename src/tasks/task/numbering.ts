// Numbers the problems of a task where there are more than it may number, or where they come in
// kinds of different size.

/** Problems of one kind that are numbered at most: of larger kinds some, evenly spread, so that no
 * kind crowds the others out. */
const MOST_OF_A_KIND = 2 ** 20

/** Problems of several kinds under one number. */
export interface Numbering {
  /** How many are numbered. */
  readonly total: number
  /** The kind of problem number `problem`, and which of its kind it is. Different numbers give
   * different problems. */
  at(problem: number): { readonly kind: number; readonly index: bigint }
}

/** Numbers problems of kinds with so many each, e.g. words of three letters, of four, of five; at
 * most `most` of a kind. Throws RangeError for an empty kind. */
export function numberKinds(sizes: readonly bigint[], most: number = MOST_OF_A_KIND): Numbering {
  const counts = sizes.map((size) => {
    if (size < 1n) throw new RangeError(`numberKinds: expected at least one problem, got ${size}`)
    return size > most ? most : Number(size)
  })
  // Made when the first problem of a kind is asked for.
  const strides: bigint[] = []
  return {
    total: counts.reduce((sum, count) => sum + count, 0),
    at(problem) {
      let [kind, rest] = [0, problem]
      while (rest >= counts[kind]) rest -= counts[kind++]
      strides[kind] ??= strideOf(sizes[kind])
      // Another place for each number: neighbours end up far apart.
      return { kind, index: (BigInt(rest) * strides[kind]) % sizes[kind] }
    },
  }
}

/** Decimals of the golden section, 0.618…: as many as the largest spaces of problems have
 * digits. */
const GOLDEN = 61_803_398_874_989_484_820_458_683_436_563_811_772n

/** The golden section of `size`, moved until it has no common factor with it, so that its multiples
 * meet every number below once. */
function strideOf(size: bigint): bigint {
  let stride = (size * GOLDEN) / 10n ** 38n + 1n
  while (commonFactor(stride, size) !== 1n) stride++
  return stride
}

const commonFactor = (a: bigint, b: bigint): bigint => (b === 0n ? a : commonFactor(b, a % b))

/** The digits of `index` in the given bases, the last one changing fastest: one choice of each of
 * several things. */
export function choices(index: bigint, bases: readonly number[]): number[] {
  let rest = index
  const digits = bases.toReversed().map((base) => {
    const digit = Number(rest % BigInt(base))
    rest /= BigInt(base)
    return digit
  })
  return digits.reverse()
}

/** Subset number `index` of the ways to choose `k` of 0 … n − 1, in ascending order; `binomial(n,
 * k)` of them. */
export function subset(index: bigint, n: number, k: number): number[] {
  const chosen: number[] = []
  let rest = index
  for (let i = 0; chosen.length < k; i++) {
    const withIt = binomial(n - i - 1, k - chosen.length - 1)
    if (rest < withIt) chosen.push(i)
    else rest -= withIt
  }
  return chosen
}

/** How many ways there are to choose k of n. */
export function binomial(n: number, k: number): bigint {
  let ways = 1n
  for (let i = 0; i < k; i++) ways = (ways * BigInt(n - i)) / BigInt(i + 1)
  return ways
}
