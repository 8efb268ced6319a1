import fc from 'fast-check'
import { expect, test } from 'vitest'
import { matmul_nn, matmul_nt, matmul_nt_add, matmul_tn } from './matmul.ts'
import {
  defaultVariant,
  exactChoice,
  MATMUL_OPS,
  MATMUL_VARIANTS,
  type MatmulVariant,
  matmulKernel,
  matmulVariant,
  missingFeatures,
  shapeClass,
} from './matmul_variants.ts'
import { VARIANT_NAMES } from './variant_names.ts'

const size = { m: 100, n: 64, k: 192 }

test('without a choice the default rule holds', () => {
  const { kernel } = matmulVariant('vector_8x8')
  for (const op of ['nn', 'nt', 'nt_add'] as const)
    expect(matmulKernel(undefined, op, size)).toBe(kernel(op))
  // Few rows, or no whole vectors.
  expect(matmulKernel({}, 'nt', { ...size, m: 8 })).toBe(matmul_nt)
  expect(matmulKernel({}, 'nn', { ...size, n: 63 })).toBe(matmul_nn)
  expect(matmulKernel({}, 'nt_add', { ...size, k: 191 })).toBe(matmul_nt_add)
  expect(matmulKernel({}, 'tn', { ...size, m: 27 })).toBe(matmul_tn)
  expect(matmulKernel({}, 'tn', { ...size, n: 26 })).toBe(matmul_tn)
  // k in four parts, up to a size.
  for (const [n, name] of [
    [512, 'vector_8x8_by_4'],
    [516, 'vector_8x8'],
  ] as const)
    expect(defaultVariant('tn', { m: 512, n, k: 1 }).name).toBe(name)
})

test('a choice holds for its class, as far as its variant supports the size', () => {
  const choice = { nt_m128_n64_k192: 'vector_4x4', nn_m128_n63_k192: 'vector_4x4' }
  const { kernel } = matmulVariant('vector_4x4')
  expect(matmulKernel(choice, 'nt', size)).toBe(kernel('nt'))
  expect(matmulKernel(choice, 'nt', { ...size, m: 128 })).toBe(kernel('nt'))
  const byDefault = matmulVariant('vector_8x8')
  expect(matmulKernel(choice, 'nt', { ...size, m: 129 })).toBe(byDefault.kernel('nt'))
  expect(matmulKernel(choice, 'nt_add', size)).toBe(byDefault.kernel('nt_add'))
  expect(matmulKernel(choice, 'nn', { ...size, n: 63 })).toBe(matmul_nn)
})

test("'*' holds for every class without a choice of its own, as far as its variant supports the size", () => {
  const choice = { '*': 'vector_4x4', nt_m128_n64_k192: 'skinny_8x16' }
  const { kernel } = matmulVariant('vector_4x4')
  for (const op of ['nn', 'tn', 'nt_add'] as const)
    expect(matmulKernel(choice, op, size)).toBe(kernel(op))
  expect(matmulKernel(choice, 'nt', { ...size, m: 129 })).toBe(kernel('nt'))
  expect(matmulKernel(choice, 'nt', size)).toBe(matmulVariant('skinny_8x16').kernel('nt'))
  expect(matmulKernel(choice, 'nt', { ...size, k: 191 })).toBe(matmul_nt)
  // A class's own variant that does not fit gives way to the default, not to '*'.
  const unfit = { '*': 'vector_4x4', nt_m128_n64_k192: 'slices_16x32' }
  expect(matmulKernel(unfit, 'nt', size)).toBe(matmulVariant('vector_8x8').kernel('nt'))
  expect(() => matmulKernel({ '*': 'vector_9x9' }, 'nt', size)).toThrow(RangeError)
})

test('a choice for weights that learn leaves out what rounds factors', () => {
  const choice = {
    '*': 'matrices_f16',
    nt_m128_n64_k192: 'matrices_f32',
    nn_m1_n4_k4: 'vector_4x4',
  }
  expect(exactChoice(choice)).toEqual({
    nt_m128_n64_k192: 'matrices_f32',
    nn_m1_n4_k4: 'vector_4x4',
  })
  expect(exactChoice(undefined)).toEqual({})
  expect(() => exactChoice({ '*': 'vector_9x9' })).toThrow(RangeError)
})

test('a class keeps the layer’s widths and rounds the tokens up to a power of two', () => {
  expect(shapeClass('nt', { m: 1, n: 3, k: 5 })).toBe('nt_m1_n3_k5')
  expect(shapeClass('nn', { m: 2049, n: 64, k: 336 })).toBe('nn_m4096_n64_k336')
  expect(shapeClass('tn', { m: 192, n: 64, k: 3072 })).toBe('tn_m192_n64_k4096')
})

test('the name of no variant is refused where it is looked up, and the message lists the names', () => {
  const choice = { nt_m128_n64_k192: 'register_9x9' }
  expect(() => matmulKernel(choice, 'nt', size)).toThrow(
    /nt_m128_n64_k192.*"register_9x9".*register_8x8, slices_16x32, vector_8x8/,
  )
  expect(() => matmulVariant('toString')).toThrow(RangeError)
})

const workgroupBytes = (wgsl: string): number =>
  [...wgsl.matchAll(/var<workgroup> \w+: array<(\w+), (\d+)>/g)].reduce(
    (sum, [, type, count]) => sum + Number(count) * (type === 'vec4f' ? 16 : 4),
    0,
  )

test.for(MATMUL_VARIANTS.map((variant): [string, MatmulVariant] => [variant.name, variant]))(
  '%s keeps to the default limits',
  ([, { supports, kernel }]) => {
    for (const op of ['nn', 'nt', 'tn', 'nt_add'] as const) {
      if (!supports(op, { m: 64, n: 64, k: 64 })) continue
      const { wgsl } = kernel(op)
      expect(workgroupBytes(wgsl)).toBeLessThanOrEqual(16384)
      const lanes = Number(wgsl.match(/@workgroup_size\((\d+)\)/)?.[1] ?? 32)
      expect(lanes).toBeLessThanOrEqual(256)
    }
  },
)

test('vectors of four are only for sizes that have whole ones', () => {
  const { supports } = matmulVariant('vector_8x8')
  expect(supports('nt', { m: 5, n: 7, k: 4 })).toBe(true)
  expect(supports('nt', { m: 4, n: 4, k: 5 })).toBe(false)
  expect(supports('nn', { m: 5, n: 8, k: 4 })).toBe(true)
  expect(supports('nn', { m: 4, n: 7, k: 4 })).toBe(false)
  expect(supports('tn', { m: 4, n: 8, k: 5 })).toBe(true)
  expect(supports('tn', { m: 5, n: 8, k: 4 })).toBe(false)
  expect(matmulVariant('slices_16x32').supports('nt', { m: 4, n: 8, k: 4 })).toBe(false)
})

test('the list of names is that of the kernels', () => {
  expect(MATMUL_VARIANTS.map(({ name }) => name)).toEqual(VARIANT_NAMES)
})

test('a class has one default, so a choice may leave it out', () => {
  const size = fc.integer({ min: 1, max: 3000 })
  fc.assert(
    fc.property(fc.constantFrom(...MATMUL_OPS), size, size, size, size, (op, m, n, k, other) => {
      const here = { m, n, k }
      const there = op === 'tn' ? { m, n, k: other } : { m: other, n, k }
      if (shapeClass(op, here) === shapeClass(op, there))
        expect(defaultVariant(op, here)).toBe(defaultVariant(op, there))
    }),
    { numRuns: 2000 },
  )
})

test('a variant names the features that an adapter lacks', () => {
  expect(missingFeatures('subgroups_8x16', ['shader-f16'])).toEqual(['subgroups'])
  expect(missingFeatures('subgroups_8x16', ['shader-f16', 'subgroups'])).toEqual([])
  expect(missingFeatures('vector_8x8', [])).toEqual([])
})
