import fc from 'fast-check'
import { expect, test } from 'vitest'
import { gpuChoice, gpuVariants } from './gpu_variants.ts'
import { chosenVariant, MATMUL_OPS, matmulVariant, missingFeatures } from './matmul_variants.ts'

const gpu = { is_software: false, features: ['subgroups'] }
const few = { op: 'nt', m: 512, n: 576, k: 576 } as const
const many = { op: 'tn', m: 3072, n: 576, k: 4096 } as const
const huge = { op: 'nt', m: 4096, n: 4096, k: 4096 } as const

test('a GPU begins with lanes that share k for few tiles, and with large tiles for many', () => {
  expect(
    gpuChoice([few, many, huge, { ...few, op: 'nn' }, { ...many, m: 192, n: 64 }], gpu),
  ).toEqual({
    nt_m512_n576_k576: 'subgroups_16x16',
    tn_m3072_n576_k4096: 'staged_64x64_8x8',
    nt_m4096_n4096_k4096: 'staged_128x128_16x8',
    nn_m512_n576_k576: 'skinny_8x16',
    tn_m192_n64_k4096: 'staged_32x32_4x4_by_4',
  })
})

test('an Intel GPU begins on 4 x 4 results a lane, which its compiler leaves in registers', () => {
  const intel = { ...gpu, vendor: 'intel' }
  expect(gpuChoice([few, many, huge, { ...many, m: 192, n: 64 }], intel)).toEqual({
    nt_m512_n576_k576: 'vector_4x4',
    tn_m3072_n576_k4096: 'vector_4x4',
    nt_m4096_n4096_k4096: 'vector_4x4',
    tn_m192_n64_k4096: 'slices_32x32',
  })
})

test('a software adapter keeps its defaults', () => {
  expect(gpuChoice([few, many], { is_software: true, features: ['subgroups'] })).toEqual({})
})

test('what a device lacks is passed over, and a size that nothing supports has no entry', () => {
  const { nt_m512_n576_k576 } = gpuChoice([few], { is_software: false, features: [] })
  expect(nt_m512_n576_k576).toBe('slices_32x32')
  expect(gpuChoice([{ op: 'nn', m: 7, n: 13, k: 5 }], gpu)).toEqual({})
})

test('whatever is chosen exists, supports its size, and is one of a few', () => {
  const size = fc.integer({ min: 1, max: 5000 })
  const features = fc.constantFrom([], ['subgroups'])
  fc.assert(
    fc.property(
      fc.constantFrom(...MATMUL_OPS),
      size,
      size,
      size,
      features,
      fc.constantFrom('nvidia', 'intel'),
      (op, m, n, k, features, vendor) => {
        const product = { op, m, n, k }
        expect(gpuVariants(op, product, vendor).length).toBeLessThanOrEqual(4)
        const choice = gpuChoice([product], { is_software: false, features, vendor })
        for (const name of Object.values(choice)) {
          expect(missingFeatures(name, features)).toEqual([])
          expect(chosenVariant(choice, op, product)).toBe(matmulVariant(name))
        }
      },
    ),
  )
})
