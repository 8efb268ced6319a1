// A model of SmolLM2-135M's shape, with random weights, opened, looked into and trained for a step,
// where LONG_TESTS is set. Prints what it took: docs/models/memory.md has the figures.
import { expect, test } from 'vitest'
import { Gpu } from '../../../kernels/device/gpu.ts'
import { normalValues } from '../../../kernels/sampling/philox.ts'
import { createLens, recordLens, unpackLens, uploadLens } from '../../../model/internals/lens.ts'
import { inverseFrequencies, modelShape } from '../../../model/layout/config.ts'
import { paramLayout } from '../../../model/layout/params.ts'
import { writeParams } from '../../../model/params/param_copies.ts'
import { createModel } from '../../../model/transformer/model.ts'
import { planMemory } from '../parts/memory.ts'
import { Trainer } from '../trainer.ts'
import { grpo, LORA, SHAPES } from './testing.ts'

const longTest = test.skipIf(!process.env.LONG_TESTS)
const SHAPE = { ...SHAPES['135m'], dtype: 'bfloat16' } as const
/** A software adapter may have a minute's work of a second's; SwiftShader compiles for a quarter of
 * an hour on a busy machine. */
const TIMEOUT = 60 * 60_000
/** Values that are uploaded at a time. */
const PIECE = 2 ** 22

const tell = (what: string, since: number) =>
  console.log(`${what}: ${((performance.now() - since) / 1000).toFixed(1)} s`)

longTest('135 million weights are opened and looked into', { timeout: TIMEOUT }, async () => {
  const gpu = await Gpu.open()
  const layout = paramLayout(modelShape(SHAPE))
  let start = performance.now()
  const model = createModel(gpu, layout)
  const values = normalValues(PIECE, 0.05, [1, 1], 0)
  for (let at = 0; at < layout.size; at += PIECE)
    writeParams(
      gpu,
      model.weights.buffers,
      values.subarray(0, Math.min(PIECE, layout.size - at)),
      at,
    )
  gpu.write(model.inv_freq, Float32Array.from(inverseFrequencies(layout.shape)))
  await gpu.finish()
  tell(
    `on ${gpu.facts.description}: opened, ${(gpu.counts.live_bytes / 1e6).toFixed(0)} MB on the GPU`,
    start,
  )

  start = performance.now()
  const lens = createLens(gpu, layout.shape, { texts: 1, width: 8 })
  uploadLens(gpu, lens, [[1, 5, 49_151, 30_000, 7]])
  const program = await gpu.record('lens', ['text'], (r) => recordLens(r, model, lens))
  gpu.replay(program, { text: 0 })
  const outputs = await gpu.read(...lens.outputs)
  tell('every layer of 5 tokens, read in two ways', start)
  const { normed } = unpackLens(lens, outputs, 0, 5)
  expect(normed.entropy).toHaveLength(5 * 31)
  expect(normed.entropy.every((x) => x >= 0 && x <= Math.log(SHAPE.vocab_size))).toBe(true)
  expect(normed.ids.every((id) => id < SHAPE.vocab_size)).toBe(true)
  gpu.destroy()
})

longTest('it makes a step of GRPO with an adapter', { timeout: TIMEOUT }, async () => {
  const config = grpo({ ...SHAPE, lora: LORA }, { prompts: 2, n: 2, prompt: 4, response: 4 })
  const gpu = await Gpu.open()
  const held = gpu.counts.live_bytes
  let start = performance.now()
  const trainer = await Trainer.create(gpu, config)
  const planned = planMemory(config).total()
  expect(gpu.counts.live_bytes - held).toBe(planned)
  tell(
    `on ${gpu.facts.description}: made ready, ${(planned / 1e6).toFixed(0)} MB planned and counted`,
    start,
  )
  await trainer.next() // measures the untrained model: nothing, here
  for (const step of ['first', 'second']) {
    start = performance.now()
    const { metrics } = await trainer.next()
    await gpu.finish()
    tell(`${step} step of 4 responses of 4 tokens to prompts of 4`, start)
    expect(Number.isFinite(metrics['actor/grad_norm'])).toBe(true)
    expect(metrics['actor/grad_norm']).toBeGreaterThan(0)
  }
  trainer.destroy()
  gpu.destroy()
})
