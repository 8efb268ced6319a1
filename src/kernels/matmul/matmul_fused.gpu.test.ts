import { describe, expect, test } from 'vitest'
import { Gpu } from '../device/gpu.ts'
import { reduceRows } from '../reduce/reduce.ts'
import { swiglu_backward, swiglu_forward } from '../swiglu/swiglu.ts'
import { expectClose, randomValues } from '../testing.ts'
import { nnSwigluRef, ntSwigluRef, tnBiasRef } from './matmul_fused.ref.ts'
import { FUSED_OPS, fusedVariant } from './matmul_fused.ts'
import {
  MATMUL_VARIANTS,
  type MatmulSize,
  type MatmulVariant,
  matmulVariant,
  tileVariant,
} from './matmul_variants.ts'
import type { FusedOp } from './tiles/tile.ts'

const gpu = await Gpu.open()

const upload = (label: string, data: Float32Array) =>
  gpu.tensor(label, 'f32', [data.length], { data })
const zeros = (label: string, count: number) => gpu.tensor(label, 'f32', [count])

// As in matmul_variants.gpu.test.ts: a sum of k products of values below one.
const tolerance = (k: number) => ({ atol: 1e-7 * k + 1e-6, rtol: 1e-5 })

/** What an op is held to: [name, its result, the reference's, the result of the plain kernels] of
 * each output. */
type Outcome = [output: string, fused: Float32Array, exact: Float64Array, plain: Float32Array][]
/** `fold` replaces the grid of the fused kernel. */
type Run = (variant: MatmulVariant, size: MatmulSize, fold?: Fold) => Promise<Outcome>
type Fold = { readonly workgroups: () => readonly [number, number] }

const kernelOf = <Op extends FusedOp>(variant: MatmulVariant, op: Op, size: MatmulSize) => {
  const kernel = fusedVariant(variant, op, size)
  if (!kernel) throw new Error(`${variant.name} has no ${op}`)
  return kernel
}

const nt_swiglu: Run = async (variant, size, fold) => {
  const { m, n, k } = size
  const [aValues, bValues] = [randomValues(m * k, m + k), randomValues(2 * n * k, 1000 + n + k)]
  const [a, b] = [upload('a', aValues), upload('b', bValues)]
  const [gate_up, out, gateUpTwin, twin] = [2 * m * n, m * n, 2 * m * n, m * n].map((count) =>
    upload('dirty', new Float32Array(count).fill(7)),
  )
  const kernel = { ...kernelOf(variant, 'nt_swiglu', size), ...fold }
  await gpu.run(kernel, size, { a, b, gate_up, out })
  const product = { m, n: 2 * n, k, accumulate: 0 }
  await gpu.run(variant.kernel('nt'), product, { a, b, out: gateUpTwin })
  const swiglu = { rows: m, intermediate_size: n }
  await gpu.run(swiglu_forward, swiglu, { gate_up: gateUpTwin, out: twin })
  const exact = ntSwigluRef(aValues, bValues, size)
  const read = await gpu.read(gate_up, out, gateUpTwin, twin)
  return [
    ['gate_up', read[0], exact.gate_up, read[2]],
    ['out', read[1], exact.out, read[3]],
  ]
}

const nn_swiglu: Run = async (variant, size, fold) => {
  const { m, n, k } = size
  const [aValues, bValues] = [randomValues(m * k, m + k), randomValues(n * k, 1000 + n + k)]
  const gateUpValues = randomValues(2 * m * n, 5).map((x) => 4 * x)
  const [a, b, gate_up] = [aValues, bValues, gateUpValues].map((x) => upload('given', x))
  const [d_gate_up, twin] = [1, 2].map(() => upload('dirty', new Float32Array(2 * m * n).fill(7)))
  const d_out = zeros('d_out', m * n)
  const kernel = { ...kernelOf(variant, 'nn_swiglu', size), ...fold }
  await gpu.run(kernel, size, { a, b, gate_up, d_gate_up })
  await gpu.run(variant.kernel('nn'), { ...size, accumulate: 0 }, { a, b, out: d_out })
  const swiglu = { rows: m, intermediate_size: n }
  await gpu.run(swiglu_backward, swiglu, { gate_up, d_out, d_gate_up: twin })
  const exact = nnSwigluRef(aValues, bValues, gateUpValues, size)
  const read = await gpu.read(d_gate_up, twin)
  return [['d_gate_up', read[0], exact, read[1]]]
}

const tn_bias: Run = async (variant, size, fold) => {
  const { m, n, k } = size
  const [aValues, bValues] = [randomValues(m * k, m + k), randomValues(n * k, 1000 + n + k)]
  const [start, biasStart] = [randomValues(m * n, 3), randomValues(m, 4)]
  const [a, b] = [upload('a', aValues), upload('b', bValues)]
  const [out, twin] = [upload('out', start), upload('twin', start)]
  const [bias, biasTwin] = [upload('bias', biasStart), upload('bias_twin', biasStart)]
  const kernel = { ...kernelOf(variant, 'tn_bias', size), ...fold }
  await gpu.run(kernel, size, { a, b, out, bias })
  await gpu.run(variant.kernel('tn'), { ...size, accumulate: 1 }, { a, b, out: twin })
  await gpu.run(reduceRows(k), { rows: k, cols: m }, { x: a, out: biasTwin })
  const exact = tnBiasRef(aValues, bValues, size)
  const read = await gpu.read(out, bias, twin, biasTwin)
  return [
    ['out', read[0], exact.out.map((x, i) => x + start[i]), read[2]],
    ['bias', read[1], exact.bias.map((x, i) => x + biasStart[i]), read[3]],
  ]
}

const RUNS: Readonly<Record<FusedOp, Run>> = { nt_swiglu, nn_swiglu, tn_bias }

/** The smallest, primes, one tile, one past it in both directions, several tiles; k below, at and
 * past 16, long. */
const sizesOf = (op: FusedOp, variant: MatmulVariant): MatmulSize[] => {
  const [height, width] = variant.tile
  return [
    { m: 1, n: 1, k: 4 },
    { m: 7, n: 13, k: 20 },
    { m: 4, n: 4, k: 4 },
    { m: 3, n: width + 3, k: 12 },
    { m: height, n: width / 2, k: 16 },
    { m: height + 4, n: width + 4, k: 36 },
    { m: 2 * height + 4, n: 2 * width + 4, k: op === 'tn_bias' ? 37 : 24 },
    { m: 12, n: 8, k: op === 'tn_bias' ? 301 : 300 },
  ].filter((size) => fusedVariant(variant, op, size))
}

// Kernels with barriers take seconds to compile on a software adapter: there one of each kind.
const SLOW: Readonly<Record<string, readonly FusedOp[]>> = {
  slices_16x16: ['nt_swiglu'],
  staged_32x32_4x4: FUSED_OPS,
  pipeline_two: ['nt_swiglu', 'tn_bias'],
}
// Two stages, steps written out and copies by rows, in a small tile: software adapters compile
// large ones for a minute.
const PIPELINE = tileVariant('pipeline_two', {
  down: 8,
  across: 8,
  rows: 4,
  cols: 4,
  slices: 1,
  stage: 4,
  pipeline: { buffers: 2, unrolled: true, byRows: true },
})
const fused = [...MATMUL_VARIANTS, PIPELINE].filter(({ tiling }) => tiling && !tiling.subgroups)
const cases = fused.flatMap((variant) => {
  const { name } = variant
  const isSlow = gpu.facts.is_software && !variant.suitsSoftware && !process.env.LONG_TESTS
  const ops = isSlow ? (SLOW[name] ?? []) : FUSED_OPS
  return ops
    .filter((op) => sizesOf(op, variant).length > 0)
    .map((op) => [name, op, variant] as const)
})

describe.for(cases)('%s %s', ([, op, variant]) => {
  test('is the reference’s, and to the bit what the plain kernels give', async () => {
    for (const size of sizesOf(op, variant))
      for (const [output, fused, exact, plain] of await RUNS[op](variant, size)) {
        // swiglu multiplies two results of up to sqrt(k), or one by values of up to 4: their errors
        // grow with it.
        const scale = op === 'tn_bias' ? 1 : 8
        const { atol, rtol } = tolerance(size.k)
        expectClose(fused, exact, { atol: scale * atol, rtol: scale * rtol })
        // The bias's sums are in another order than reduce_rows takes.
        if (output === 'bias') expectClose(fused, plain, tolerance(size.k))
        else expect(fused, `${output} at ${JSON.stringify(size)}`).toEqual(plain)
      }
  })
})

test.for(FUSED_OPS)('a grid of %s folded into two dimensions covers every tile', async (op) => {
  const size = { m: 66, n: op === 'nt_swiglu' ? 20 : 40, k: 8 } // 6 tiles
  const variant = matmulVariant('vector_4x4')
  const tall = op === 'tn_bias' ? { ...size, m: 68 } : size
  expect(kernelOf(variant, op, tall).workgroups(tall)).toEqual([6, 1])
  const fold = { workgroups: () => [4, 2] as const }
  for (const [, fused, exact] of await RUNS[op](variant, tall, fold))
    expectClose(fused, exact, { atol: 1e-5, rtol: 1e-4 })
})
