// What touching a model makes on a device is what was planned: a plan that leaves something out
// would let in what does not fit.
import { expect, test } from 'vitest'
import { bufferBytes, type MemoryPlan } from '../../../kernels/device/base/tensor.ts'
import { Gpu } from '../../../kernels/device/gpu.ts'
import { testWeights } from '../../../model/testing.ts'
import { SHAPES, TOUCHES, touchedConfig } from '../real/testing.ts'
import { type TouchWork, touchModels } from './touch.ts'

/** A model of few numbers, whose texts outweigh it. */
const SMALL = {
  ...SHAPES['15m'],
  vocab_size: 64,
  hidden_size: 32,
  intermediate_size: 64,
  num_hidden_layers: 3,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  head_dim: 8,
}

/** A device that counts the bytes of its tensors, and the most that there were at once. */
async function counted() {
  const gpu = await Gpu.open()
  const seen = { now: 0, most: 0 }
  const [make, free] = [gpu.tensor.bind(gpu), gpu.free.bind(gpu)]
  gpu.tensor = (...given) => {
    const tensor = make(...given)
    seen.now += bufferBytes(tensor)
    seen.most = Math.max(seen.most, seen.now)
    return tensor
  }
  gpu.free = (...tensors) => {
    for (const tensor of tensors) seen.now -= bufferBytes(tensor)
    free(...tensors)
  }
  return { gpu, seen }
}

test.for<TouchWork>(Object.values(TOUCHES))('$what makes what was planned', async (work) => {
  const config = touchedConfig(SMALL)
  const models = [3, 4].map((seed) => ({
    step: seed,
    config,
    weights: testWeights(SMALL, seed).flat,
  }))
  let planned = 0
  const { gpu, seen } = await counted()
  const open = async (plan: MemoryPlan) => {
    planned = plan.total()
    return gpu
  }
  await touchModels(open, work, [models[0], models[1]], () => {})
  expect(seen.most).toBe(planned)
})
