// A joined dispatch must leave the bits of its parts.
import { expect, test } from 'vitest'
import { matmulVariant } from '../../matmul/matmul_variants.ts'
import { reduce_rows, reduce_rows_short } from '../../reduce/reduce.ts'
import { rms_norm_backward, rms_norm_weight_grad } from '../../rms_norm/rms_norm.ts'
import { randomValues } from '../../testing.ts'
import type { Recorder } from '../base/program.ts'
import type { Tensor } from '../base/tensor.ts'
import { Gpu } from '../gpu.ts'
import { places } from '../timing/testing.ts'

const [rows, cols] = [70, 20]

/** Products and sums of two kinds, of 64 lanes and of one, with and without barriers. */
function record(r: Recorder<'rows'>, t: Readonly<Record<string, Tensor>>): void {
  const live = ({ rows }: { rows: number }) => rows
  const nn = matmulVariant('vector_4x4').kernel('nn')
  const size = { m: rows, n: cols, k: cols, accumulate: 0 }
  r.run(reduce_rows, { rows: live, cols }, { x: t.x, out: t.sums })
  r.run(nn, { ...size, m: live }, { a: t.x, b: t.square, out: t.product })
  r.run(reduce_rows_short, { rows, cols }, { x: t.x, out: t.short })
  const norm = { x: t.x, inv_rms: t.inv, d_y: t.product }
  const weight = t.weight
  r.run(rms_norm_backward, { rows: live, cols, accumulate: 0 }, { ...norm, weight, d_x: t.d_x })
  r.run(
    rms_norm_weight_grad,
    { rows: live, cols, rows_per_block: 8 },
    { ...norm, partials: t.partials },
  )
  const tn = { m: cols, n: cols, k: live, accumulate: 1 }
  r.run(matmulVariant('vector_4x4').kernel('tn'), tn, { a: t.product, b: t.x, out: t.gradient })
  r.run(places, { groups: 7, width: 0 }, { folded: t.folded, flat: t.flat })
}

/** With `inParts`, every dispatch that can be cut is. */
async function results(joins: boolean, inParts = false) {
  const gpu = await Gpu.open({ joins })
  if (inParts) gpu.limitDispatches({ mostMs: 1, took: () => 4 })
  const filled = (label: string, count: number, seed: number) =>
    gpu.tensor(label, 'f32', [count], { data: randomValues(count, seed) })
  const tensors = {
    x: filled('x', rows * cols, 1),
    square: filled('square', cols * cols, 2),
    inv: filled('inv', rows, 3),
    weight: filled('weight', cols, 4),
    product: gpu.tensor('product', 'f32', [rows * cols]),
    d_x: gpu.tensor('d_x', 'f32', [rows * cols]),
    partials: gpu.tensor('partials', 'f32', [Math.ceil(rows / 8) * cols]),
    sums: gpu.tensor('sums', 'f32', [cols]),
    short: gpu.tensor('short', 'f32', [cols]),
    gradient: gpu.tensor('gradient', 'f32', [cols * cols]),
    folded: gpu.tensor('folded', 'u32', [7]),
    flat: gpu.tensor('flat', 'u32', [7]),
  }
  const program = await gpu.record('joined', ['rows'], (r) => record(r, tensors))
  let split = 0
  for (let round = 0; inParts && round < 4; round++) {
    gpu.replay(program, { rows: 69 })
    split = (await gpu.settleDispatches())?.split_dispatches ?? split
  }
  // Earlier rounds have added to them.
  for (const sum of [tensors.gradient, tensors.sums, tensors.short])
    gpu.write(sum, new Float32Array(sum.shape[0]))
  for (const seen of [tensors.folded, tensors.flat]) gpu.write(seen, new Uint32Array(7))
  gpu.replay(program, { rows: 69 })
  const arrays = await gpu.read(...Object.values(tensors))
  const { profile } = await gpu.profile(() => gpu.replay(program, { rows: 69 }))
  gpu.destroy()
  return {
    arrays,
    split,
    dispatches: program.dispatches,
    kernels: profile.kernels.map(({ name }) => name),
  }
}

test('independent kernels run as one and leave the bits that they leave apart', async () => {
  const [apart, joined] = [await results(false), await results(true)]
  expect(joined.arrays).toEqual(apart.arrays)
  expect(apart.dispatches).toBe(7)
  expect(joined.dispatches).toBe(3)
})

test('a joined dispatch that takes too long runs in parts, with the same bits', async () => {
  const [whole, cut] = [await results(true), await results(true, true)]
  expect(cut.split).toBeGreaterThan(0)
  expect(cut.arrays).toEqual(whole.arrays)
})
