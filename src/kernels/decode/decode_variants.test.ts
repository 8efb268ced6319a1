import { expect, test } from 'vitest'
import { decode_linear } from './decode.ts'
import { decodeLinearKernel } from './decode_variants.ts'

const size = { m: 256, n: 64, k: 192 }

test('a choice of a subgroups variant for the class, or for all, gives its twin', () => {
  const twin = decodeLinearKernel({ nt_m256_n64_k192: 'subgroups_8x16' }, size)
  expect(twin.name).toBe('decode_linear_subgroups_8x16')
  expect(twin.requires).toEqual(['subgroups'])
  expect(decodeLinearKernel({ '*': 'subgroups_8x16' }, size)).toBe(twin)
  // Tiles of 8 x 16.
  const none = { has_addend: 0, addend_stride: 0 }
  expect(twin.workgroups({ ...size, ...none, m: 9, n: 17 })).toEqual([4, 1])
})

test('every other choice leaves decode_linear', () => {
  expect(decodeLinearKernel(undefined, size)).toBe(decode_linear)
  for (const choice of [
    {},
    { nt_m256_n64_k192: 'vector_4x4' },
    { '*': 'slices_16x16' },
    { nt_m256_n64_k192: 'vector_4x4', '*': 'subgroups_8x16' },
    { nt_add_m256_n64_k192: 'subgroups_8x16' },
    { nt_m512_n64_k192: 'subgroups_8x16' },
  ])
    expect(decodeLinearKernel(choice, size)).toBe(decode_linear)
  expect(() => decodeLinearKernel({ '*': 'subgroups_9x9' }, size)).toThrow(RangeError)
})
