// Computes halves as the format says them (IEEE 754 binary16): what a cache of halves holds.

/** The number that 16 bits stand for. */
export function halfRef(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1
  const exponent = (bits >> 10) & 31
  const fraction = bits & 1023
  if (exponent === 31) return fraction ? Number.NaN : sign * Number.POSITIVE_INFINITY
  return exponent === 0
    ? sign * fraction * 2 ** -24
    : sign * (1024 + fraction) * 2 ** (exponent - 25)
}

/** All halves of words, the low one first. */
export const halvesRef = (words: Uint32Array): Float64Array =>
  Float64Array.from({ length: 2 * words.length }, (_, i) =>
    halfRef((words[i >> 1] >>> (16 * (i & 1))) & 0xffff),
  )
