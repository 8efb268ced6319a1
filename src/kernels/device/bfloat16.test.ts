import { expect, test } from 'vitest'
import { decodeBfloat16, encodeBfloat16 } from './bfloat16.ts'

test('every bfloat16 survives decoding and encoding', () => {
  const bits = Uint16Array.from({ length: 2 ** 16 }, (_, i) => i)
  const again = encodeBfloat16(decodeBfloat16(bits))
  for (let i = 0; i < bits.length; i++) {
    const isNan = (i & 0x7fff) > 0x7f80
    expect(again[i], `bits ${i}`).toBe(isNan ? i | 0x40 : i)
  }
})

test('a value goes to the nearest bfloat16, a tie to the even one', () => {
  // 1 is 0x3f80, the next bfloat16 is 1 + 2^-7.
  const values = [1 + 2 ** -9, 1 + 2 ** -8, 1 + 3 * 2 ** -8, 1 + 2 ** -8 + 2 ** -20, 3.4e38, -1.1]
  const found = [...decodeBfloat16(encodeBfloat16(Float32Array.from(values)))]
  expect(found).toEqual([1, 1, 1 + 2 ** -6, 1 + 2 ** -7, Number.POSITIVE_INFINITY, -1.1015625])
})
