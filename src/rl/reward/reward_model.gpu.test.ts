// The reward model's update against the same update in float64, over several steps.
import { describe, expect, test } from 'vitest'
import { MemoryPlan } from '../../kernels/device/base/tensor.ts'
import { Gpu } from '../../kernels/device/gpu.ts'
import { adamwRef } from '../../kernels/optimizer/optimizer.ref.ts'
import { CONTROL } from '../../kernels/optimizer/optimizer.ts'
import { bradleyTerryRef } from '../../kernels/preference_loss/preference_loss.ref.ts'
import { PREFERENCE_LOSS_SUMS } from '../../kernels/preference_loss/preference_loss.ts'
import { expectClose } from '../../kernels/testing.ts'
import { chunkSegments } from '../../model/layout/flat_params.ts'
import { unpackWeights } from '../../model/layout/params.ts'
import { CONFIGS, TINY, testBatch, testWeights } from '../../model/testing.ts'
import { forwardRef } from '../../model/transformer/transformer.ref.ts'
import { valuesBackwardRef, valuesRef } from '../../model/transformer/value.ref.ts'
import { OPTIM } from '../testing.ts'
import { createRewardModelTensors, lastRows, RewardModel, type Sequences } from './reward_model.ts'

const gpu = await Gpu.open()
const PAD = 0
const ROWS = 6
const WIDTH = 7
const LENGTHS = [4, 1, 3, 2, 4, 3].map((response, i) => ({ prompt: 1 + (i % 3), response }))
const optim = { ...OPTIM, weight_decay: 0.01 }

describe('lastRows', () => {
  test('the right-most token that is not padding, as a row of [B · T]', () => {
    const ids = Uint32Array.of(0, 5, 6, 0, 0, 0, 0, 9, 7, 0, 0, 8, 3, 0, 0)
    expect([...lastRows(ids, 5, 0)]).toEqual([2, 8, 12])
  })

  test('padding inside a sequence is passed over, padding alone is scored at column 0', () => {
    expect([...lastRows(Uint32Array.of(4, 0, 4, 0, 0, 0, 0, 0), 4, 0)]).toEqual([2, 4])
    expect([...lastRows(Uint32Array.of(1, 1, 1, 2), 2, 1)]).toEqual([0, 3])
  })
})

const sequences = (seed: number): Sequences & { rows: number; width: number } =>
  testBatch(LENGTHS, { P: 3, R: 4, vocab_size: TINY.vocab_size, seed })

describe.for(CONFIGS.map((config) => [config.model_type, config] as const))('%s', ([, config]) => {
  test('five steps follow float64: scores, losses, norms and every weight', async () => {
    const { layout, flat } = testWeights(config, 3, 'reward_head')
    const model = await RewardModel.create(gpu, layout, { rows: ROWS, width: WIDTH }, PAD, flat)
    const state = {
      weights: Float64Array.from(flat),
      m: new Float64Array(layout.size),
      v: new Float64Array(layout.size),
      steps: layout.segment_ends.map(() => 0),
    }
    for (let step = 0; step < 5; step++) {
      const lr = 1e-3 * (1 + (step % 2))
      const batch = sequences(50 + step)
      model.update(batch, optim, 1, lr)
      const { sums, history, score } = model.tensors
      const [seen, records, scores] = await gpu.read(sums, history, score.scores)

      const params = Object.fromEntries(
        layout.params.map(({ name, offset, size }) => [
          name,
          state.weights.subarray(offset, offset + size),
        ]),
      )
      const cache = forwardRef(config, params, batch)
      const all = valuesRef(params, cache)
      const last = lastRows(batch.input_ids, WIDTH, PAD)
      const truth = bradleyTerryRef(Float64Array.from(last, (m) => all[m]))
      // Rounding of f32 over up to five AdamW steps, whose size does not shrink with the gradient.
      expectClose(
        scores,
        Float64Array.from(last, (m) => all[m]),
        { atol: 3e-4, rtol: 3e-4 },
      )
      expect(seen[PREFERENCE_LOSS_SUMS.indexOf('reward_model/loss')]).toBeCloseTo(truth.loss, 3)
      expect(seen[PREFERENCE_LOSS_SUMS.indexOf('reward_model/accuracy')]).toBeCloseTo(
        truth.accuracy,
        6,
      )
      const d_values = new Float64Array(all.length)
      last.forEach((m, b) => {
        d_values[m] = truth.d_scores[b]
      })
      const grads = valuesBackwardRef(config, params, cache, d_values)
      const dFlat = new Float64Array(layout.size)
      for (const { name, offset } of layout.params) dFlat.set(grads[name], offset)
      const settings = { lr, beta1: 0.9, beta2: 0.95, eps: 1e-8, weight_decay: 0.01, max_norm: 1 }
      const { grad_norm } = adamwRef(state, dFlat, settings, {
        count: layout.size,
        chunk_segment: chunkSegments(layout),
        active_segments: layout.segment_ends.length,
      })
      const norm = records[CONTROL.indexOf('grad_norm')]
      expect(Math.abs(norm - grad_norm) / grad_norm, `step ${step}`).toBeLessThan(2e-3)
    }
    const weights = await model.trainable.exportWeights()
    const moved = Math.hypot(...state.weights.map((w, i) => w - flat[i]))
    const error = Math.hypot(...state.weights.map((w, i) => w - weights[i]))
    expect(moved).toBeGreaterThan(0.2)
    expect(error / moved).toBeLessThan(1e-3)
    const now = unpackWeights(layout, weights)
    const before = unpackWeights(layout, flat)
    for (const { name } of layout.params) expect(now[name], name).not.toEqual(before[name])
  })
})

test('it learns which of two answers is preferred, and scoring alone moves nothing', async () => {
  const { layout, flat } = testWeights(TINY, 8, 'reward_head')
  const model = await RewardModel.create(gpu, layout, { rows: ROWS, width: WIDTH }, PAD, flat)
  const pairs = sequences(4)
  const { sums, score } = model.tensors
  model.score(pairs)
  const [first] = await gpu.read(score.scores)
  expect(await model.trainable.exportWeights()).toEqual(flat)
  for (let step = 0; step < 20; step++) model.update(pairs, optim, 1, 1e-2)
  const [[loss, accuracy]] = await gpu.read(sums)
  expect(loss).toBeLessThan(0.1)
  expect(accuracy).toBe(1)
  model.score(pairs)
  const [scores] = await gpu.read(score.scores)
  expect(scores).not.toEqual(first)
  for (let i = 0; i < 3; i++) expect(scores[i]).toBeGreaterThan(scores[3 + i])
})

test('the plan counts the bytes that are really allocated', async () => {
  const { layout, flat } = testWeights(TINY, 8, 'reward_head')
  const fresh = await Gpu.open()
  const before = fresh.counts.live_bytes
  const size = { rows: ROWS, width: WIDTH }
  await RewardModel.create(fresh, layout, size, PAD, flat)
  const plan = new MemoryPlan()
  createRewardModelTensors(plan, layout, size)
  expect(fresh.counts.live_bytes - before).toBe(plan.total())
  fresh.destroy()
})
