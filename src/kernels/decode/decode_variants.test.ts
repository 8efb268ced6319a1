import { expect, test } from 'vitest'
import { SOON_COMPILED } from '../matmul/matmul_variants.ts'
import { decode_linear, decode_linear_short } from './decode.ts'
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

test('a choice of matrix units gives a twin in them, which leaves out tiles of 64 rows', () => {
  const twin = decodeLinearKernel({ '*': 'matrices_f16' }, size)
  expect(twin.name).toBe('decode_linear_matrices_f16')
  expect(twin.requires).toEqual(['subgroups', 'shader-f16', 'subgroup-matrix-f16'])
  const none = { has_addend: 0, addend_stride: 0 }
  expect(twin.workgroups({ ...size, ...none, m: 65, n: 33 })).toEqual([4, 1])
  expect(twin.wgsl).toMatch(/^enable subgroups;\nenable f16;/)
  expect(twin.wgsl).toContain('const TILE_ROWS = 64u;')
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

test('hardware takes lanes of few rows, unless the layer is narrow or a choice says otherwise', () => {
  expect(decodeLinearKernel(undefined, size, true)).toBe(decode_linear_short)
  // 5 tiles of 32 rows, where decode_linear has 3.
  const none = { has_addend: 0, addend_stride: 0 }
  expect(decode_linear_short.workgroups({ ...size, ...none, m: 130 })).toEqual([5, 1])
  expect(decode_linear.workgroups({ ...size, ...none, m: 130 })).toEqual([3, 1])
  const narrow = decodeLinearKernel(undefined, { ...size, k: 32 }, true)
  expect(narrow.name).toBe('decode_linear_vector_4x4')
  const chosen = decodeLinearKernel({ '*': 'subgroups_8x16' }, size, true)
  expect(chosen.name).toBe('decode_linear_subgroups_8x16')
})

test('a model whose kernels are to compile soon takes the smaller tiles for every layer', () => {
  const twin = decodeLinearKernel({ '*': SOON_COMPILED }, size)
  expect(twin.name).toBe('decode_linear_vector_4x4')
  expect(twin).toBe(decodeLinearKernel(undefined, { ...size, k: 32 }))
})
