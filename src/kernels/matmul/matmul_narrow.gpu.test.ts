// Narrow layers run on kernels that compile sooner, and have the bits that wider ones would give
// them.
import { expect, test } from 'vitest'
import { decode_linear } from '../decode/decode.ts'
import { decodeLinearKernel } from '../decode/decode_variants.ts'
import { Gpu } from '../device/gpu.ts'
import { randomValues } from '../testing.ts'
import {
  defaultVariant,
  type MatmulKernel,
  type MatmulSize,
  type MatmulVariant,
  matmulVariant,
} from './matmul_variants.ts'
import type { MatmulOp } from './tiles/tile.ts'

const gpu = await Gpu.open()

const upload = (label: string, count: number, seed: number) =>
  gpu.tensor(label, 'f32', [count], { data: randomValues(count, seed) })

async function run(variant: MatmulVariant, op: MatmulOp, { m, n, k }: MatmulSize) {
  const [a, b, out] = [upload('a', m * k, 1), upload('b', n * k, 2), upload('out', m * n, 3)]
  const kernel = variant.kernel(op) as MatmulKernel<'nn'>
  await gpu.run(kernel, { m, n, k, accumulate: 1 }, { a, b, out })
  return (await gpu.read(out))[0]
}

test.for([
  ['nt', 'vector_4x4', 'vector_8x8', { m: 77, n: 14, k: 32 }],
  ['nn', 'vector_4x4', 'vector_8x8', { m: 77, n: 32, k: 96 }],
  ['tn', 'vector_4x4_by_4', 'vector_8x8_by_4', { m: 96, n: 32, k: 77 }],
  ['tn', 'vector_8x8_by_4', 'slices_16x32', { m: 96, n: 44, k: 77 }],
] as const)('%s on %s has the bits of %s', async ([op, narrow, wide, size]) => {
  expect(defaultVariant(op, size).name).toBe(narrow)
  const [ours, theirs] = [
    await run(matmulVariant(narrow), op, size),
    await run(matmulVariant(wide), op, size),
  ]
  expect(ours).toEqual(theirs)
})

test('a product of a decoded token has the bits of decode_linear', async () => {
  const size = { m: 77, n: 32, k: 64 }
  const [m, n, k] = [size.m, size.n, size.k]
  const tensors = {
    a: upload('a', m * k, 1),
    b: upload('b', n * k, 2),
    addend: upload('addend', m * n, 4),
    ended: gpu.tensor('ended', 'u32', [m]),
  }
  const kernel = decodeLinearKernel(undefined, size)
  expect(kernel.name).toBe('decode_linear_vector_4x4')
  const results: Float32Array[] = []
  for (const each of [kernel, decode_linear]) {
    const out = gpu.tensor('out', 'f32', [m, n])
    const params = { ...size, has_addend: 1, addend_stride: n }
    await gpu.run(each, params, { ...tensors, out })
    results.push((await gpu.read(out))[0])
  }
  expect(results[0]).toEqual(results[1])
})
