// How a task numbers its problems where there are more than it may number, or where they come in kinds of different size.

/** Problems of one kind that are numbered at most: of larger kinds some, evenly spread, so that no kind crowds the others out. */
const MOST_OF_A_KIND = 2 ** 20

/** Problems of several kinds under one number. */
export interface Numbering {
  /** How many are numbered. */
  readonly total: number
  /** The kind of problem number `problem`, and which of its kind it is. Different numbers give different problems. */
  at(problem: number): { readonly kind: number; readonly index: bigint }
}

/** Numbers problems of kinds with so many each, e.g. words of three letters, of four, of five. Throws RangeError for an empty kind. */
export function numberKinds(sizes: readonly bigint[]): Numbering {
  const counts = sizes.map((size) => {
    if (size < 1n) throw new RangeError(`numberKinds: expected at least one problem, got ${size}`)
    return size > MOST_OF_A_KIND ? MOST_OF_A_KIND : Number(size)
  })
  return {
    total: counts.reduce((sum, count) => sum + count, 0),
    at(problem) {
      let [kind, rest] = [0, problem]
      while (rest >= counts[kind]) rest -= counts[kind++]
      return { kind, index: spread(BigInt(rest), sizes[kind]) }
    },
  }
}

/** Another place below `size` for each number below it: neighbours end up far apart. */
const spread = (index: bigint, size: bigint): bigint => (index * strideOf(size)) % size

/** Near the golden section of `size`, and without a common factor, so that its multiples meet every number below `size` once. */
function strideOf(size: bigint): bigint {
  let stride = (size * 618n) / 1000n + 1n
  while (commonFactor(stride, size) !== 1n) stride++
  return stride
}

const commonFactor = (a: bigint, b: bigint): bigint => (b === 0n ? a : commonFactor(b, a % b))

/** The digits of `index` in the given bases, the last one changing fastest: one choice of each of several things. */
export function choices(index: bigint, bases: readonly number[]): number[] {
  let rest = index
  const digits = bases.toReversed().map((base) => {
    const digit = Number(rest % BigInt(base))
    rest /= BigInt(base)
    return digit
  })
  return digits.reverse()
}
