import { expect, test } from 'vitest'
import { MemoryPlan } from '../kernels/device/base/tensor.ts'
import { Gpu } from '../kernels/device/gpu.ts'
import { TINY, testModel, testWeights } from '../model/testing.ts'
import { createModel } from '../model/transformer/model.ts'
import { createTrainableTensors } from '../rl/learners/trainable.ts'

const pinned = process.env.PINNED_KERNELS

// What the product does with them is tested beside it.
test('PINNED_KERNELS reaches every model that has no kernels of its own', async () => {
  const { layout, flat } = testWeights(TINY, 1)
  expect(layout.shape.narrowKernels).toBe(pinned === 'tiled' ? false : undefined)
  const matmul = pinned && pinned !== 'tiled' ? { '*': pinned } : undefined
  const plan = new MemoryPlan()
  const models = [
    testModel(await Gpu.open(), layout, flat),
    createTrainableTensors(plan, layout, { updates: 1 }, { matmul: undefined, fusion: undefined })
      .model,
  ]
  expect(models.map((model) => model.matmul)).toEqual([matmul, matmul])
  const own = { '*': 'slices_16x16' }
  expect(createModel(plan, layout, 'none', { matmul: own }).matmul).toBe(own)
})
