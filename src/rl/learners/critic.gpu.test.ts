// The critic's update against the same update in float64, over several steps.
import { describe, expect, test } from 'vitest'
import { Gpu } from '../../kernels/device/gpu.ts'
import { adamwRef } from '../../kernels/optimizer/optimizer.ref.ts'
import { CONTROL } from '../../kernels/optimizer/optimizer.ts'
import {
  LOSS_AGG_MODES,
  type LossAggMode,
} from '../../kernels/policy_loss/aggregations/aggregations.ts'
import { expectClose, randomValues } from '../../kernels/testing.ts'
import { valueLossRef } from '../../kernels/value_loss/value_loss.ref.ts'
import { chunkSegments } from '../../model/layout/flat_params.ts'
import { type ParamLayout, unpackWeights } from '../../model/layout/params.ts'
import { readParams, wholeTensor } from '../../model/params/param_copies.ts'
import { flatOf, TINY, testWeights } from '../../model/testing.ts'
import type { RefArrays } from '../../model/transformer/operations.ref.ts'
import { forwardRef } from '../../model/transformer/transformer.ref.ts'
import {
  readSpan,
  scatterSpan,
  valuesBackwardRef,
  valuesRef,
} from '../../model/transformer/value.ref.ts'
import { CRITIC, type Critic as CriticConfig } from '../config/critic.ts'
import type { RolloutBatch } from '../experience/batch.ts'
import { TrainingBatch } from '../experience/training_batch.ts'
import { defaultsOf } from '../fields/field.ts'
import { madeUpBatch, OPTIM } from '../testing.ts'
import { type ActorSize, createActorTensors } from './actor_tensors.ts'
import { Critic } from './critic.ts'
import { createCriticTensors } from './critic_tensors.ts'

const gpu = await Gpu.open()
const P = 3
const R = 4
const T = P + R
const ROWS = 8
const MINI = 4
const LENGTHS = [4, 1, 3, 2, 4, 4, 2, 3].map((response, i) => ({ prompt: 1 + (i % 3), response }))
const SIZE: ActorSize = {
  prompt_length: P,
  response_length: R,
  batchRows: ROWS,
  microRows: ROWS,
  updates: 4,
  probeRows: 1,
  hasReference: false,
}
const CONFIG: CriticConfig = {
  ...defaultsOf(CRITIC),
  // Narrow enough that some predictions are clipped after the first update.
  cliprange_value: 0.02,
  optim: { ...OPTIM, weight_decay: 0.01 },
}
const WHOLE = { isLegacy: false, max_response_length: R }

const makeRows = (seed: number) => madeUpBatch(LENGTHS, { P, R, seed })

const policy = createActorTensors(gpu, testWeights(TINY, 1).layout, SIZE)

const shared = {
  batch: new TrainingBatch(gpu, policy.batch, true),
  workspace: policy.workspace,
}

async function createCritic(loss_agg_mode: LossAggMode, micro: readonly number[] = [MINI]) {
  const { layout, flat } = testWeights(TINY, 22, 'value_head')
  const size = { rows: ROWS, response_length: R, updates: 4 }
  const tensors = createCriticTensors(gpu, layout, size)
  const critic = await Critic.create(gpu, layout, tensors, shared, flat)
  for (const rows of micro) await critic.prepare(rows, loss_agg_mode)
  return { critic, layout, flat }
}

const named = (layout: ParamLayout, flat: Float64Array): RefArrays =>
  Object.fromEntries(
    layout.params.map(({ name, offset, size }) => [name, flat.subarray(offset, offset + size)]),
  )

const part = (batch: RolloutBatch, first: number, rows: number) => {
  const cut = <A extends Uint32Array | Float32Array>(x: A, columns: number) =>
    x.subarray(first * columns, (first + rows) * columns) as A
  return {
    rows,
    width: T,
    input_ids: cut(batch.input_ids, T),
    attention_mask: cut(batch.attention_mask, T),
    position_ids: cut(batch.position_ids, T),
    response_mask: cut(batch.response_mask, R),
  }
}

/** V of rows, and the gradient of their value loss. */
function lossRef(
  layout: ParamLayout,
  weights: Float64Array,
  batch: RolloutBatch,
  first: number,
  { values, returns }: { values: ArrayLike<number>; returns: ArrayLike<number> },
  aggregation: Parameters<typeof valueLossRef>[0],
) {
  const rows = part(batch, first, MINI)
  const params = named(layout, weights)
  const cache = forwardRef(TINY, params, rows)
  const vpreds = readSpan(valuesRef(params, cache), cache, rows.response_mask, P - 1)
  const cut = (x: ArrayLike<number>) => Array.prototype.slice.call(x, first * R, (first + MINI) * R)
  const loss = valueLossRef(aggregation, {
    vpreds,
    values: cut(values),
    returns: cut(returns),
    response_mask: rows.response_mask,
    response_length: R,
  })
  const d_values = scatterSpan(loss.d_vpreds, cache, rows.response_mask, P - 1)
  const grads = valuesBackwardRef(TINY, params, cache, d_values)
  const flat = new Float64Array(layout.size)
  for (const { name, offset } of layout.params) flat.set(grads[name], offset)
  return { ...loss, flat }
}

const returnsOf = (batch: RolloutBatch, seed: number) =>
  randomValues(ROWS * R, seed).map((x, i) => 2 * x * batch.response_mask[i])

/** The kernels of all aggregations have tests of their own. */
const modes = process.env.LONG_TESTS ? LOSS_AGG_MODES : LOSS_AGG_MODES.slice(0, 2)

describe.for(modes)('%s', (loss_agg_mode) => {
  test('four steps of two epochs follow float64: values, losses, norms and every weight', async () => {
    const { critic, layout, flat } = await createCritic(loss_agg_mode)
    const state = {
      weights: Float64Array.from(flat),
      m: new Float64Array(layout.size),
      v: new Float64Array(layout.size),
      steps: layout.segment_ends.map(() => 0),
    }
    const config = { ...CONFIG, loss_agg_mode }
    let clipped = 0
    for (let step = 0; step < 4; step++) {
      const lr = 1e-3 * (1 + step)
      const batch = makeRows(100 + step)
      const returns = returnsOf(batch, 7 + step)
      critic.beginStep()
      const rows = { batch: ROWS, mini: MINI, micro: MINI }
      shared.batch.upload(batch, MINI)
      critic.computeValues(rows)
      expect(critic.update(batch, returns, config, rows, { ...WHOLE, epochs: 2, lr })).toBe(4)
      const { values, value_sums, history } = critic.tensors
      const [seenValues, sums, records] = await gpu.read(values, value_sums, history)

      const params = named(layout, state.weights)
      const cache = forwardRef(TINY, params, part(batch, 0, ROWS))
      const old = readSpan(valuesRef(params, cache), cache, batch.response_mask, P - 1)
      expectClose(seenValues, old, { atol: 3e-4, rtol: 3e-4 })
      const expected = [0, 0, 0]
      for (let update = 0; update < 4; update++) {
        const first = (update % 2) * MINI
        const truth = lossRef(layout, state.weights, batch, first, { values: old, returns }, config)
        const settings = { lr, beta1: 0.9, beta2: 0.95, eps: 1e-8, weight_decay: 0.01, max_norm: 1 }
        const { grad_norm } = adamwRef(state, truth.flat, settings, {
          count: layout.size,
          chunk_segment: chunkSegments(layout),
          active_segments: layout.segment_ends.length,
        })
        Object.values(truth.metrics).forEach((x, i) => {
          expected[i] += x
        })
        const seen = records[update * CONTROL.length + CONTROL.indexOf('grad_norm')]
        expect(Math.abs(seen - grad_norm) / grad_norm, `step ${step}`).toBeLessThan(2e-3)
      }
      clipped += expected[1]
      // The share of clipped tokens jumps by 1 / tokens where rounding moves one across the border:
      // none here.
      expectClose(sums, expected, { atol: 1e-4, rtol: 1e-3 })
    }
    expect(clipped).toBeGreaterThan(0)
    const weights = await critic.trainable.exportWeights()
    const moved = Math.hypot(...state.weights.map((w, i) => w - flat[i]))
    const error = Math.hypot(...state.weights.map((w, i) => w - weights[i]))
    expect(moved).toBeGreaterThan(0.2)
    expect(error / moved).toBeLessThan(1e-3)
    const now = unpackWeights(layout, weights)
    const before = unpackWeights(layout, flat)
    for (const { name } of layout.params) expect(now[name], name).not.toEqual(before[name])
  })

  test('micro-batches: whole counts change nothing, the legacy rule is the mean of their means', async () => {
    const { critic, layout, flat } = await createCritic(loss_agg_mode, [MINI, 2])
    const batch = makeRows(31)
    const returns = returnsOf(batch, 3)
    const config = { cliprange_value: 0.5, loss_agg_mode }
    const gradients = async (micro: number, isLegacy: boolean) => {
      critic.beginStep()
      shared.batch.upload(batch, micro)
      critic.computeValues({ batch: ROWS, mini: MINI, micro })
      gpu.write(critic.tensors.returns, returns)
      critic.trainable.clearGradients()
      critic.accumulate(
        batch,
        config,
        { batch: ROWS, mini: MINI, micro },
        { first: 0 },
        {
          ...WHOLE,
          isLegacy,
        },
      )
      const [g, sums] = await gpu.read(flatOf(critic.tensors.gradients), critic.tensors.value_sums)
      return { g: g as Float32Array, sums: sums as Float32Array }
    }
    const one = await gradients(4, false)
    const two = await gradients(2, false)
    const scale = Math.max(...one.g.map(Math.abs))
    expectClose(two.g, one.g, { atol: 2e-6 * scale, rtol: 1e-4 })
    expectClose(two.sums, one.sums, { atol: 1e-5, rtol: 1e-5 })

    const weights = Float64Array.from(flat)
    const own = part(batch, 0, MINI)
    const params = named(layout, weights)
    const cache = forwardRef(TINY, params, own)
    const vpreds = readSpan(valuesRef(params, cache), cache, own.response_mask, P - 1)
    const half = (first: number) => {
      const cut = (x: ArrayLike<number>) =>
        Array.prototype.slice.call(x, first * R, (first + 2) * R) as number[]
      return valueLossRef(config, {
        vpreds: cut(vpreds),
        values: cut(vpreds),
        returns: cut(returns),
        response_mask: cut(own.response_mask),
        response_length: R,
      }).loss
    }
    const legacy = await gradients(2, true)
    expect(legacy.sums[0]).toBeCloseTo((half(0) + half(2)) / 2, 4)
  })
})

test('rows that rejection emptied do not count as sequences, and an empty mini-batch takes no step', async () => {
  const { critic, flat } = await createCritic('seq-mean-token-mean')
  const batch = makeRows(5)
  const response_mask = batch.response_mask.map((m, i) => (i < R ? 0 : m))
  const some = { ...batch, response_mask }
  const returns = returnsOf(batch, 9)
  const rows = { batch: ROWS, mini: MINI, micro: MINI }
  critic.beginStep()
  shared.batch.upload(some, MINI)
  critic.computeValues(rows)
  gpu.write(critic.tensors.returns, returns)
  critic.trainable.clearGradients()
  const config = { cliprange_value: 0.5, loss_agg_mode: 'seq-mean-token-mean' } as const
  critic.accumulate(some, config, rows, { first: 0 }, WHOLE)
  const { values, value_sums } = critic.tensors
  const [old, [vfLoss]] = await gpu.read(values, value_sums)
  const expected = valueLossRef(config, {
    vpreds: old.subarray(0, MINI * R),
    values: old.subarray(0, MINI * R),
    returns: returns.subarray(0, MINI * R),
    response_mask: response_mask.subarray(0, MINI * R),
    response_length: R,
  })
  expect(vfLoss).toBeCloseTo(expected.loss, 5)

  const none = { ...batch, response_mask: new Float32Array(ROWS * R) }
  critic.beginStep()
  shared.batch.upload(none, MINI)
  const settings = { ...CONFIG, ...config }
  expect(critic.update(none, returns, settings, rows, { ...WHOLE, epochs: 2, lr: 1 })).toBe(0)
  expect(await critic.trainable.exportWeights()).toEqual(flat)
})

test("to begin is to take the policy's transformer, the first score and no moments", async () => {
  const { critic, layout, flat } = await createCritic('token-mean')
  const start = testWeights(TINY, 77)
  gpu.write(flatOf(policy.model.weights), start.flat)
  const batch = makeRows(6)
  const rows = { batch: ROWS, mini: MINI, micro: MINI }
  critic.beginStep()
  shared.batch.upload(batch, MINI)
  critic.computeValues(rows)
  critic.update(batch, returnsOf(batch, 2), { ...CONFIG }, rows, { ...WHOLE, epochs: 1, lr: 0.1 })
  critic.begin(policy.model.weights, start.layout)
  const now = unpackWeights(layout, await critic.trainable.exportWeights())
  const theirs = unpackWeights(start.layout, start.flat)
  const first = unpackWeights(layout, flat)
  for (const { name } of layout.params)
    expect(now[name], name).toEqual(name.startsWith('score') ? first[name] : theirs[name])
  const [m, corrections] = await readParams(
    gpu,
    critic.tensors.m,
    wholeTensor(critic.tensors.corrections),
  )
  expect([...m, ...corrections].every((x) => x === 0)).toBe(true)
})
