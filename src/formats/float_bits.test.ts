import { describe, expect, test } from 'vitest'
import { bfloatOfBits, bitsOfFloat, bitsOfHalf, halfOfBits } from './float_bits.ts'

describe('16-bit floats', () => {
  test('every half is itself after a round trip, and so is every bfloat16', () => {
    const isNan = (bits: number) => (bits & 0x7c00) === 0x7c00 && (bits & 0x3ff) !== 0
    for (let half = 0; half < 2 ** 16; half++) {
      if (!isNan(half) && halfOfBits(bitsOfHalf(half) >>> 0) !== half)
        expect.fail(`half ${half.toString(16)}`)
      const wide = half * 2 ** 16
      if (!((wide & 0x7fffffff) > 0x7f800000) && bfloatOfBits(wide) !== half)
        expect.fail(`bfloat16 ${half.toString(16)}`)
    }
  })

  test('in between, the nearest wins and a tie goes to the even one', () => {
    const half = (x: number) => halfOfBits(bitsOfFloat(x))
    const bfloat = (x: number) => bfloatOfBits(bitsOfFloat(x))
    expect([1 + 2 ** -11, 1 + 3 * 2 ** -11, 1 + 2 ** -11 + 2 ** -20].map(half)).toEqual([
      0x3c00, 0x3c02, 0x3c01,
    ])
    // Subnormals, and the smallest normal from below.
    expect([2 ** -25, 3 * 2 ** -25, 2 ** -14 - 2 ** -26, 2 ** -26].map(half)).toEqual([
      0, 2, 0x400, 0,
    ])
    expect([65519, 65520, -1e9, Number.NaN].map(half)).toEqual([0x7bff, 0x7c00, 0xfc00, 0x7e00])
    expect([1 + 2 ** -8, 1 + 3 * 2 ** -8, 3.4e38, Number.NaN].map(bfloat)).toEqual([
      0x3f80, 0x3f82, 0x7f80, 0x7fc0,
    ])
  })
})
