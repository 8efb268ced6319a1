import { describe, expect, test } from 'vitest'
import { Gpu } from '../device/gpu.ts'
import { expectClose, randomValues } from '../testing.ts'
import { matmulNnRef, matmulNtAddRef, matmulNtRef, matmulTnRef } from './matmul.ref.ts'
import { hasFeatures } from './matmul_tune.ts'
import {
  MATMUL_OPS,
  MATMUL_VARIANTS,
  type MatmulKernel,
  type MatmulSize,
  type MatmulVariant,
  matmulVariant,
  tileVariant,
} from './matmul_variants.ts'
import type { MatmulOp } from './tiles/tile.ts'

const gpu = await Gpu.open()
const references = {
  nn: matmulNnRef,
  nt: matmulNtRef,
  tn: matmulTnRef,
  nt_add: matmulNtRef,
}

const upload = (label: string, data: Float32Array) =>
  gpu.tensor(label, 'f32', [data.length], { data })

interface Operands {
  readonly a: Float32Array
  readonly b: Float32Array
  /** What out holds before, or for nt_add the residual [m, n] or the bias [n]. */
  readonly added: Float32Array
}

const operands = ({ m, n, k }: MatmulSize, added: number): Operands => ({
  a: randomValues(m * k, m + k),
  b: randomValues(k * n, 1000 + n + k),
  added: randomValues(added, 3),
})

/** The product plus `added`: accumulated, or as an addend. */
async function run(
  variant: MatmulVariant,
  op: MatmulOp,
  { m, n, k }: MatmulSize,
  { a, b, added }: Operands,
): Promise<Float32Array> {
  const tensors = { a: upload('a', a), b: upload('b', b) }
  if (op === 'nt_add') {
    const addend = upload('addend', added)
    const out = gpu.tensor('out', 'f32', [m, n])
    const size = { m, n, k, addend_stride: added.length === n ? 0 : n }
    await gpu.run(variant.kernel(op), size, { ...tensors, addend, out })
    return (await gpu.read(out))[0]
  }
  const out = upload('out', added)
  const kernel = variant.kernel(op) as MatmulKernel<'nn'>
  await gpu.run(kernel, { m, n, k, accumulate: 1 }, { ...tensors, out })
  return (await gpu.read(out))[0]
}

// A sum of k products of values below one: up to k roundings of a partial sum of about sqrt(k) / 3,
// and of both factors of each product.
const tolerance = (k: number, rounding = 0) => ({
  atol: (1e-7 + 2 * rounding) * k + 1e-6,
  rtol: 1e-5,
})

/** One, primes, the smallest vectors, one tile, one vector past it; k below, at and past 16 (a
 * stage, the slices), long. */
const sizesOf = (op: MatmulOp, { tile: [height, width], supports }: MatmulVariant): MatmulSize[] =>
  [
    { m: 1, n: 1, k: 1 },
    { m: 7, n: 13, k: 5 },
    { m: 4, n: 4, k: 4 },
    { m: 3, n: width + 3, k: 12 },
    { m: height, n: width, k: 16 },
    { m: height + 4, n: width + 4, k: 20 },
    { m: 4, n: 8, k: op === 'tn' ? 301 : 300 },
  ].filter((size) => supports(op, size))

// Kernels with barriers take seconds to compile on a software adapter: there one of each kind. For
// nt_add their body is that of nt, but where results are stored in vectors.
const SLOW: Readonly<Record<string, readonly MatmulOp[]>> = {
  slices_16x32: ['tn'],
  slices_16x16: ['nn'],
  skinny_8x16: ['tn'],
  staged_32x32_4x4: MATMUL_OPS,
  staged_16x16_4x4_by_16: ['tn'],
  pipeline_two: ['nt', 'tn'],
}
const runsAll = ({ suitsSoftware }: MatmulVariant) =>
  suitsSoftware || !gpu.facts.is_software || Boolean(process.env.LONG_TESTS)
// Every way through the stages, in small tiles: a software adapter compiles large ones for a
// minute.
const small = { down: 8, across: 8, rows: 4, cols: 4, slices: 1, stage: 8 }
const PIPELINES = [
  tileVariant('pipeline_one', { ...small, pipeline: { buffers: 1 } }),
  tileVariant('pipeline_two', { ...small, pipeline: { buffers: 2, unrolled: true, byRows: true } }),
]
const listed = [...MATMUL_VARIANTS, ...PIPELINES]
const all = listed.filter((variant) => hasFeatures(gpu, variant))
const cases = all.flatMap((variant) =>
  (runsAll(variant) ? MATMUL_OPS : (SLOW[variant.name] ?? []))
    .filter((op) => sizesOf(op, variant).length > 0)
    .map((op) => [variant.name, op, variant] as const),
)

describe.for(cases)('%s %s', ([, op, variant]) => {
  const [height, width] = variant.tile
  const near = (k: number) => tolerance(k, variant.rounding)

  test('is the reference’s product, added to what is there', async () => {
    for (const size of sizesOf(op, variant)) {
      const given = operands(size, size.m * size.n)
      const expected = references[op](given.a, given.b, size).map((x, i) => x + given.added[i])
      expectClose(await run(variant, op, size, given), expected, near(size.k))
    }
  })

  test('overwrites, or adds a bias to every row', async () => {
    const size = { m: 4, n: 20, k: 24 }
    const given = operands(size, op === 'nt_add' ? size.n : size.m * size.n)
    if (op === 'nt_add') {
      const expected = matmulNtAddRef(given.a, given.b, given.added, {
        ...size,
        addend_stride: 0,
      })
      expectClose(await run(variant, op, size, given), expected, near(size.k))
      return
    }
    const tensors = { a: upload('a', given.a), b: upload('b', given.b) }
    const out = upload('out', given.added)
    const kernel = variant.kernel(op) as MatmulKernel<'nn'>
    await gpu.run(kernel, { ...size, accumulate: 0 }, { ...tensors, out })
    const expected = references[op](given.a, given.b, size)
    expectClose((await gpu.read(out))[0], expected, near(size.k))
  })

  test.skipIf(op === 'tn')('gives a row the same bits in any batch and place', async () => {
    const size = { m: height + 3, n: Math.min(width, 32), k: 36 }
    const given = operands(size, size.m * size.n)
    const whole = await run(variant, op, size, given)
    for (const [first, count] of [
      [0, 1],
      [height - 1, 3],
    ]) {
      const rows = (data: Float32Array, cols: number) =>
        data.slice(first * cols, (first + count) * cols)
      const part = { a: rows(given.a, size.k), b: given.b, added: rows(given.added, size.n) }
      const result = await run(variant, op, { ...size, m: count }, part)
      expect(result).toEqual(rows(whole, size.n))
    }
  })
})

test('a grid folded into two dimensions covers every tile', async () => {
  const vector_4x4 = matmulVariant('vector_4x4')
  const size = { m: 66, n: 40, k: 8 } // 6 tiles
  const given = operands(size, size.m * size.n)
  const kernel = { ...vector_4x4.kernel('nt'), workgroups: () => [4, 2] as const }
  const folded: MatmulVariant = { ...vector_4x4, kernel: () => kernel as never }
  const expected = matmulNtRef(given.a, given.b, size).map((x, i) => x + given.added[i])
  expectClose(await run(folded, 'nt', size, given), expected, tolerance(size.k))
})
