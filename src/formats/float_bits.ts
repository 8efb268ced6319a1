// Converts float32, IEEE 754 half and bfloat16 by their bits.

const scratch = new Float32Array(1)
const scratchBits = new Uint32Array(scratch.buffer)

/** The bits of a number rounded to float32. */
export function bitsOfFloat(value: number): number {
  scratch[0] = value
  return scratchBits[0]
}

/** The float32 bits of an IEEE 754 half; every half has an exact one. */
export function bitsOfHalf(half: number): number {
  const sign = (half & 0x8000) << 16
  const exponent = (half >> 10) & 31
  const fraction = half & 0x3ff
  if (exponent === 31) return sign | 0x7f800000 | (fraction << 13)
  if (exponent > 0) return sign | ((exponent + 112) << 23) | (fraction << 13)
  scratch[0] = fraction * 2 ** -24
  return sign | scratchBits[0]
}

/** Float32 bits to the nearest half, ties to even. */
export function halfOfBits(bits: number): number {
  const sign = (bits >>> 16) & 0x8000
  const magnitude = bits & 0x7fffffff
  if (magnitude > 0x7f800000) return sign | 0x7e00
  // 65520 and above round to infinity.
  if (magnitude >= 0x477ff000) return sign | 0x7c00
  if (magnitude >= 0x38800000) return sign | roundBits(magnitude - (112 << 23), 13)
  // Below 2^-14 a half counts in steps of 2^-24; adding 2^-1 makes float32 round to just that step.
  scratchBits[0] = magnitude
  scratch[0] += 0.5
  return sign | (scratchBits[0] & 0x7ff)
}

/** Float32 bits to the nearest bfloat16, ties to even. */
export const bfloatOfBits = (bits: number) =>
  (bits & 0x7fffffff) > 0x7f800000 ? (bits >>> 16) | 0x40 : roundBits(bits, 16)

/** Drops the lowest `count` bits, rounding to nearest, ties to even. */
function roundBits(bits: number, count: number): number {
  const half = 2 ** (count - 1)
  return Math.floor(((bits >>> 0) + half - 1 + ((bits >>> count) & 1)) / 2 ** count)
}
