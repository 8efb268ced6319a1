// Muon on the GPU: the recorded steps of matrices against torch's numbers, and what they leave to
// AdamW.
import { expect, test } from 'vitest'
import { sizeOf } from '../../../kernels/device/base/tensor.ts'
import { Gpu } from '../../../kernels/device/gpu.ts'
import { TORCH_CASES } from '../../../kernels/muon/testing.ts'
import { expectClose } from '../../../kernels/testing.ts'
import { type FlatLayout, FlatParams, matrix, norm } from '../../../model/layout/flat_params.ts'
import { createParamBuffers } from '../../../model/params/param_buffers.ts'
import { readParams, writeParams } from '../../../model/params/param_copies.ts'
import { OPTIM } from '../../testing.ts'
import { Optimizer } from '../optimizer.ts'
import { createOptimizerTensors, createTrained } from '../optimizer_tensors.ts'

const gpu = await Gpu.open()

/** A norm, the matrix behind another in one product, and one in a segment that is no block. */
function layoutOf(rows: number, columns: number): FlatLayout {
  const flat = new FlatParams()
  flat.place(norm('before', 5))
  flat.place(matrix('first', 1, columns), matrix('matrix', rows, columns))
  flat.closeSegment()
  flat.place(matrix('score', rows, columns))
  flat.closeSegment()
  const { params, size, segment_ends, placed } = flat
  return { params, size, segment_ends, placed, first_block: 0, numBlocks: 1 }
}

test.for(TORCH_CASES)('$rows × $columns, three steps as torch takes them', async (own) => {
  const layout = layoutOf(own.rows, own.columns)
  const weights = createParamBuffers(gpu, layout, 'weights', 'weights')
  const gradients = { buffers: createTrained(gpu, layout, 'gradients', 'gradients') }
  const tensors = createOptimizerTensors(gpu, layout, weights, gradients, {
    updates: 3,
    hasMuon: true,
  })
  const optimizer = await Optimizer.create(gpu, tensors)
  const adjust_lr_fn = own.adjust_lr_fn as 'original'
  const { lr, weight_decay, lr_ratio, ...muon } = own.settings
  const optim = {
    ...OPTIM,
    lr,
    weight_decay,
    optimizer: 'Muon' as const,
    muon: { ...muon, adjust_lr_fn },
  }
  await optimizer.prepare(1, optim)
  const at = layout.params.map(({ offset }) => offset)
  writeParams(gpu, weights, new Float32Array(layout.size).fill(0.5))
  writeParams(gpu, weights, Float32Array.from(own.weights), at[2])
  optimizer.beginStep()
  for (const gradient of own.gradients) {
    writeParams(gpu, gradients.buffers, Float32Array.from(gradient), at[2])
    optimizer.apply(1, optim, 1e6, lr)
  }
  const [after, m] = await readParams(gpu, weights, tensors.m)
  const count = own.weights.length
  expectClose(after.subarray(at[2], at[2] + count), own.in_float64, { atol: 2e-5, rtol: 2e-5 })
  expect(m.subarray(at[2], at[2] + count).some((x) => x !== 0)).toBe(true)
  // Without a gradient a norm only decays, and so does a matrix without momentum.
  const decayed = 0.5 * (1 - lr * weight_decay) ** 3
  for (const [i, size] of [5, own.columns].entries())
    expectClose(after.subarray(at[i], at[i] + size), new Float32Array(size).fill(decayed))
  expect(lr_ratio).toBeGreaterThan(0)
  expect(sizeOf(tensors.muon?.gram.shape ?? [])).toBe(Math.min(own.rows, own.columns) ** 2)
})

test('a gradient that is not finite changes nothing, momentum neither', async () => {
  const layout = layoutOf(4, 6)
  const weights = createParamBuffers(gpu, layout, 'weights', 'weights')
  const gradients = { buffers: createTrained(gpu, layout, 'gradients', 'gradients') }
  const size = { updates: 1, hasMuon: true }
  const tensors = createOptimizerTensors(gpu, layout, weights, gradients, size)
  const optimizer = await Optimizer.create(gpu, tensors)
  const optim = { ...OPTIM, optimizer: 'Muon' as const }
  await optimizer.prepare(1, optim)
  writeParams(gpu, weights, new Float32Array(layout.size).fill(0.5))
  const broken = new Float32Array(layout.size).fill(0.1)
  broken[70] = Number.NaN
  writeParams(gpu, gradients.buffers, broken)
  optimizer.beginStep()
  optimizer.apply(1, optim, 1, 0.01)
  const [after, m] = await readParams(gpu, weights, tensors.m)
  expect(after.every((x) => x === 0.5)).toBe(true)
  expect(m.every((x) => x === 0)).toBe(true)
})
