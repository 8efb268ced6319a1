// Training with steps fused into matrix products and without: other roundings at most, the same
// training.
import { expect, test } from 'vitest'
import { Gpu } from '../../kernels/device/gpu.ts'
import type { ModelConfig } from '../../model/layout/config.ts'
import { TINY, testWeights } from '../../model/testing.ts'
import type { Fusion } from '../../model/transformer/model.ts'
import { TrainingBatch } from '../experience/training_batch.ts'
import { madeUpBatch, OPTIM } from '../testing.ts'
import { createActorTensors } from './actor_tensors.ts'
import { recordSft } from './programs.ts'
import { Trainable } from './trainable.ts'

const gpu = await Gpu.open()
const P = 3
const R = 4
const ROWS = 8
const STEPS = 10
const LENGTHS = [4, 1, 3, 2, 4, 4, 2, 3].map((response, i) => ({ prompt: 1 + (i % 3), response }))
const makeRows = (seed: number) => madeUpBatch(LENGTHS, { P, R, seed })
const BATCHES = [1, 2, 3].map((seed) => makeRows(100 + seed))

/** The weights before and after ten supervised steps, and the losses of the first and the last. */
async function train(config: ModelConfig, fusion?: Fusion) {
  const { layout, flat } = testWeights(config, 21)
  const L = layout.shape.num_hidden_layers
  const tensors = createActorTensors(gpu, layout, {
    prompt_length: P,
    response_length: R,
    batchRows: ROWS,
    microRows: ROWS,
    updates: 1,
    probeRows: 1,
    hasReference: false,
    kernels: { fusion },
  })
  const uploaded = new TrainingBatch(gpu, tensors.batch, true)
  const trainable = await Trainable.load(gpu, layout, tensors, flat)
  await trainable.prepare(L)
  const step = await gpu.record('sft', ['row', 'tokens', 'inv_token_count'] as const, (r) =>
    recordSft(r, tensors, tensors.workspace, L),
  )
  const losses: number[] = []
  for (let i = 0; i < STEPS; i++) {
    const batch = BATCHES[i % BATCHES.length]
    uploaded.upload(batch, ROWS)
    gpu.clear(tensors.sums)
    trainable.beginStep()
    trainable.clearGradients()
    const tokens = batch.response_mask.reduce((sum, m) => sum + m, 0)
    gpu.replay(step, { row: 0, tokens: uploaded.tokens(0, ROWS), inv_token_count: 1 / tokens })
    trainable.apply(L, OPTIM, 1, 3e-3)
    if (i === 0 || i === STEPS - 1) losses.push((await gpu.read(tensors.sums))[0][0])
  }
  return { before: flat, after: await trainable.exportWeights(), losses }
}

const norm = (values: ArrayLike<number>) => Math.hypot(...Array.from(values))
const difference = (a: Float32Array, b: Float32Array) => a.map((x, i) => x - b[i])
const QWEN2: ModelConfig = { ...TINY, model_type: 'qwen2', head_dim: 6 }
const OFF: Fusion = { swiglu: false, biasGradient: false }

// model/transformer/fusion.gpu.test.ts has a fused pass and its gradients, of each kind of model.
test
  .skipIf(!process.env.LONG_TESTS)
  .for([TINY, QWEN2].map((config) => [config.model_type, config] as const))(
  '%s: ten steps with and without fusion end at the same weights within rounding',
  async ([, config]) => {
    const on = await train(config)
    const off = await train(config, OFF)
    expect(off.losses[1]).toBeLessThan(0.9 * off.losses[0])
    const moved = norm(difference(off.after, off.before))
    expect(moved).toBeGreaterThan(0.5)
    const error = norm(difference(on.after, off.after))
    // Without a bias there is nothing that rounds otherwise; with it 1e-6 was measured on lavapipe.
    // AdamW's step does not shrink with the gradient, so that roundings of small bias gradients
    // count in full.
    if (config.model_type === 'qwen2') expect(error / moved).toBeLessThan(1e-4)
    else expect(on).toEqual(off)
  },
)
