import { describe, expect, test } from 'vitest'
import { numericGradient, weightedSum } from '../numericGradient.ref.ts'
import { expectClose, randomValues } from '../testing.ts'
import { nnSwigluRef, ntSwigluRef, tnBiasRef } from './matmul_fused.ref.ts'
import { FUSED_OPS, fusedKernel, fusedVariant } from './matmul_fused.ts'
import { MATMUL_VARIANTS, type MatmulVariant, matmulKernel } from './matmul_variants.ts'

describe('references', () => {
  test('gate rows of the weight come first, up rows after them', () => {
    // gate = (0, ln 3), up = (5, 4); silu(0) = 0 and silu(ln 3) = 3/4 ln 3.
    const { gate_up, out } = ntSwigluRef([1], [0, Math.log(3), 5, 4], { m: 1, n: 2, k: 1 })
    expectClose(gate_up, [0, Math.log(3), 5, 4])
    expectClose(out, [0, 3 * Math.log(3)])
  })

  test('nn_swiglu and tn_bias are the gradients of a feed-forward with a biased layer', () => {
    const [tokens, hidden, width] = [3, 4, 5]
    const gate_up = randomValues(tokens * 2 * width, 1).map((x) => x * 3)
    const down = randomValues(hidden * width, 2)
    const d_hidden = randomValues(tokens * hidden, 3)
    // hidden [tokens, hidden] = (silu(gate) · up) · downᵀ, by way of a product whose weight is the
    // identity.
    const loss = (values: Float64Array) => {
      const identity = Float64Array.from({ length: 4 * width * width }, (_, i) =>
        i % (2 * width + 1) === 0 ? 1 : 0,
      )
      const { out } = ntSwigluRef(values, identity, { m: tokens, n: width, k: 2 * width })
      const written = ntSwigluRef(out, [...down, ...down], { m: tokens, n: hidden, k: width })
      const hiddenStates = new Float64Array(tokens * hidden).map(
        (_, i) => written.gate_up[Math.floor(i / hidden) * 2 * hidden + (i % hidden)],
      )
      return weightedSum(hiddenStates, d_hidden)
    }
    const shape = { m: tokens, n: width, k: hidden }
    expectClose(nnSwigluRef(d_hidden, down, gate_up, shape), numericGradient(loss, gate_up), {
      atol: 1e-7,
    })
    const { out, bias } = tnBiasRef([1, 2, 3, 4, 5, 6], [1, 10, 100], { m: 2, n: 1, k: 3 })
    expect([...out]).toEqual([531, 642])
    expect([...bias]).toEqual([9, 12])
  })
})

const sizes = {
  nt_swiglu: { m: 100, n: 96, k: 64 },
  nn_swiglu: { m: 100, n: 96, k: 64 },
  tn_bias: { m: 192, n: 64, k: 100 },
}
/** The plain product's size. */
const plain = {
  nt_swiglu: ['nt', { ...sizes.nt_swiglu, n: 192 }],
  nn_swiglu: ['nn', sizes.nn_swiglu],
  tn_bias: ['tn', sizes.tn_bias],
} as const

test.for(FUSED_OPS)('%s runs on what its plain product would run on', (op) => {
  const [plainOp, size] = plain[op]
  const suffix = (name: string | undefined) =>
    name?.replace(/^matmul_(nt|nn|tn)_(swiglu|bias)_/, '')
  const byDefault = op === 'tn_bias' ? 'vector_8x8_by_4' : 'vector_8x8'
  expect(suffix(fusedKernel(undefined, op, sizes[op])?.name)).toBe(byDefault)
  const shapeClass = { nt: 'nt_m128_n192_k64', nn: 'nn_m128_n96_k64', tn: 'tn_m192_n64_k128' }
  const choice = { '*': 'slices_32x32', [shapeClass[plainOp]]: 'staged_64x64_8x8' }
  expect(matmulKernel(choice, plainOp, size).name).toMatch(/staged_64x64_8x8$/)
  expect(suffix(fusedKernel(choice, op, sizes[op])?.name)).toBe('staged_64x64_8x8')
  const other = { ...sizes[op], m: op === 'tn_bias' ? 188 : 200 }
  expect(suffix(fusedKernel(choice, op, other)?.name)).toBe('slices_32x32')
  expect(fusedKernel(choice, op, other)).toBe(fusedKernel(choice, op, other))
})

test('where the plain product’s variant has no fused kernel, there is none', () => {
  for (const op of FUSED_OPS) {
    expect(fusedKernel({ '*': 'register_8x8' }, op, sizes[op])).toBeUndefined()
    expect(fusedKernel(undefined, op, { m: 7, n: 13, k: 5 })).toBeUndefined()
  }
  // Few rows, or a k without whole vectors, as for the plain product.
  expect(fusedKernel(undefined, 'nt_swiglu', { m: 8, n: 96, k: 64 })).toBeUndefined()
  expect(fusedKernel(undefined, 'nt_swiglu', { m: 100, n: 96, k: 63 })).toBeUndefined()
  expect(fusedKernel(undefined, 'nt_swiglu', { m: 100, n: 95, k: 64 })).toBeDefined()
  expect(() => fusedKernel({ '*': 'vector_9x9' }, 'nn_swiglu', sizes.nn_swiglu)).toThrow(RangeError)
})

const workgroupBytes = (wgsl: string): number =>
  [...wgsl.matchAll(/var<workgroup> \w+: array<(\w+), (\d+)>/g)].reduce(
    (sum, [, type, count]) => sum + Number(count) * (type === 'vec4f' ? 16 : 4),
    0,
  )

/** Those with fused kernels. */
const fused = MATMUL_VARIANTS.filter(({ tiling }) => tiling && !tiling.subgroups)

test.for(fused.map((variant): [string, MatmulVariant] => [variant.name, variant]))(
  '%s keeps to the default limits',
  ([, variant]) => {
    const kernels = FUSED_OPS.map((op) => fusedVariant(variant, op, { m: 64, n: 64, k: 64 }))
    expect(kernels.some((kernel) => kernel)).toBe(true)
    for (const kernel of kernels) {
      if (!kernel) continue
      expect(workgroupBytes(kernel.wgsl)).toBeLessThanOrEqual(16384)
      expect(Number(kernel.wgsl.match(/@workgroup_size\((\d+)\)/)?.[1])).toBeLessThanOrEqual(256)
    }
  },
)

test('each op has a kernel of every tile that its plain product can take', () => {
  const names = (op: 'nt_swiglu' | 'nn_swiglu' | 'tn_bias') =>
    MATMUL_VARIANTS.filter((variant) => fusedVariant(variant, op, { m: 64, n: 64, k: 64 })).map(
      ({ name }) => name,
    )
  const tiles = fused.map(({ name }) => name)
  const ofTn = ['slices_16x32', 'vector_8x8_by_4', 'vector_4x4_by_4', 'staged_16x16_4x4_by_16']
  expect(names('nt_swiglu')).toEqual(tiles.filter((name) => !ofTn.includes(name)))
  expect(names('nn_swiglu')).toEqual(names('nt_swiglu'))
  expect(names('tn_bias')).toEqual(tiles)
})

test('every tile is that of the variant it is named after', () => {
  for (const { name, tile } of MATMUL_VARIANTS) {
    const [, rows, cols] = /_(\d+)x(\d+)_\d+x\d+/.exec(name) ?? []
    if (rows) expect([Number(rows), Number(cols)], name).toEqual(tile)
  }
})
