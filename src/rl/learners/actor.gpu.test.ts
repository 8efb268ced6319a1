// The update against the same update in float64: ten steps over a phase switch, with another
// learning rate each step.
import { expect, test } from 'vitest'
import { Gpu } from '../../kernels/device/gpu.ts'
import { CONTROL } from '../../kernels/optimizer/optimizer.ts'
import { sftLossRef } from '../../kernels/policy_loss/entropy_loss.ref.ts'
import { expectClose, randomValues } from '../../kernels/testing.ts'
import { unpackWeights } from '../../model/layout/params.ts'
import { flatOf, packWeights, TINY, testWeights } from '../../model/testing.ts'
import { policyRef } from '../../model/transformer/policy.ref.ts'
import { forwardRef } from '../../model/transformer/transformer.ref.ts'
import type { ActorPhase, RlPhase } from '../config/phase.ts'
import { spreadRows } from '../experience/batch.ts'
import { madeUpBatch, OPTIM, RL, SFT } from '../testing.ts'
import { actorStepRef } from './actor.ref.ts'
import { Actor } from './actor.ts'
import type { ActorSize } from './actor_tensors.ts'
import { phaseRows } from './base/batch_rows.ts'

const gpu = await Gpu.open()
const L = TINY.num_hidden_layers
const P = 3
const R = 4
const ROWS = 8
const LENGTHS = [4, 1, 3, 2, 4, 4, 2, 3].map((response, i) => ({ prompt: 1 + (i % 3), response }))

const makeRows = (seed: number) => madeUpBatch(LENGTHS, { P, R, seed })

const size: ActorSize = {
  prompt_length: P,
  response_length: R,
  batchRows: ROWS,
  microRows: ROWS,
  updates: 4,
  probeRows: 4,
  hasReference: false,
}
const rollout = {
  ...RL.rollout,
  train_batch_size: 4,
  n: 2,
  temperature: 0.9,
  max_response_length: R,
}
const phase = (target_layer: number, change: Partial<RlPhase['actor']> = {}): RlPhase => ({
  ...RL,
  target_layer,
  rollout,
  actor: {
    ...RL.actor,
    ppo_mini_batch_size: 2,
    optim: { ...OPTIM, weight_decay: 0.01 },
    ...change,
  },
})

async function createActor(phases: ActorPhase[]) {
  const { layout, flat, exact } = testWeights(TINY, 21)
  return {
    actor: await Actor.create(gpu, layout, size, phases, { weights: flat }),
    layout,
    flat,
    exact,
  }
}

test('ten BuPO steps over the switch follow float64: losses, norms and every weight', async () => {
  const inner = phase(2, { entropy_coeff: 0.01 })
  const whole = phase(L)
  const { actor, layout, flat } = await createActor([inner, whole])
  const state = {
    weights: Float64Array.from(flat),
    m: new Float64Array(layout.size),
    v: new Float64Array(layout.size),
    steps: layout.segment_ends.map(() => 0),
  }
  const rows = phaseRows(inner, P + R, TINY)
  expect(rows).toEqual({ batch: 8, mini: 4, micro: 4 })
  for (let step = 0; step < 10; step++) {
    const current = step < 5 ? inner : whole
    const lr = 1e-3 * (1 + (step % 4))
    const batch = makeRows(100 + step)
    const advantages = randomValues(ROWS, step).map((x) => 1.5 * x)
    const spread = batch.response_mask.map((m, i) => m * advantages[Math.floor(i / R)])
    actor.beginStep()
    actor.upload(batch, rows, { advantages: spread })
    actor.computeLogProbs(current, rows)
    actor.updatePolicy(batch, current, rows, { lr, step })
    const { sums, history } = actor.tensors
    const [lossSums, records, old] = await gpu.read(
      sums,
      history,
      actor.tensors.batch.old_log_probs,
    )
    const truth = actorStepRef(TINY, state, layout, batch, spread, current, lr)
    // Rounding of f32 over up to 20 AdamW steps, whose size does not shrink with the gradient.
    expectClose(old as Float32Array, truth.old, { atol: 2e-4, rtol: 2e-4 })
    expect(lossSums[0], `step ${step}`).toBeCloseTo(truth.loss, 4)
    truth.grad_norms.forEach((norm, i) => {
      const seen = records[i * CONTROL.length + CONTROL.indexOf('grad_norm')]
      expect(Math.abs(seen - norm) / norm, `step ${step}, update ${i}`).toBeLessThan(2e-3)
    })
    if (step === 4) {
      const now = unpackWeights(layout, await actor.exportWeights())
      const before = unpackWeights(layout, flat)
      for (const { name } of layout.params) {
        const isAbove = name.startsWith('model.layers.2.') || name === 'model.norm.weight'
        if (isAbove) expect(now[name], `${name} moved in the inner phase`).toEqual(before[name])
        else expect(now[name], `${name} did not move`).not.toEqual(before[name])
      }
    }
  }
  const weights = await actor.exportWeights()
  const moved = Math.hypot(...state.weights.map((w, i) => w - flat[i]))
  const error = Math.hypot(...state.weights.map((w, i) => w - weights[i]))
  expect(moved).toBeGreaterThan(0.5)
  expect(error / moved).toBeLessThan(1e-3)
  // Blocks above layer 2 counted only the steps after the switch.
  expect(state.steps).toEqual([20, 20, 20, 10, 10])
})

test('through the norm, with frozen parts and other rates above: every weight follows float64', async () => {
  const freeze = { embed_tokens: true, layers: [1] }
  const normed: RlPhase = { ...phase(2), target_readout: 'normed' }
  const slow: RlPhase = { ...phase(L), lr_factor_above: { layer: 1, factor: 0.1 } }
  const frozen: RlPhase = { ...phase(L), freeze }
  const phases = [normed, slow, frozen, phase(L)]
  const { actor, layout, flat } = await createActor(phases)
  const state = {
    weights: Float64Array.from(flat),
    m: new Float64Array(layout.size),
    v: new Float64Array(layout.size),
    steps: layout.segment_ends.map(() => 0),
  }
  const rows = phaseRows(normed, P + R, TINY)
  for (let step = 0; step < 8; step++) {
    const current = phases[Math.floor(step / 2)]
    const before = unpackWeights(layout, await actor.exportWeights())
    const batch = makeRows(200 + step)
    const advantages = randomValues(ROWS, step).map((x) => 1.5 * x)
    const spread = batch.response_mask.map((m, i) => m * advantages[Math.floor(i / R)])
    actor.beginStep()
    actor.upload(batch, rows, { advantages: spread })
    actor.computeLogProbs(current, rows)
    actor.updatePolicy(batch, current, rows, { lr: 2e-3, step })
    const { sums, history, batch: tensors } = actor.tensors
    const [lossSums, records, old] = await gpu.read(sums, history, tensors.old_log_probs)
    const truth = actorStepRef(TINY, state, layout, batch, spread, current, 2e-3)
    expectClose(old as Float32Array, truth.old, { atol: 2e-4, rtol: 2e-4 })
    expect(lossSums[0], `step ${step}`).toBeCloseTo(truth.loss, 4)
    truth.grad_norms.forEach((norm, i) => {
      const seen = records[i * CONTROL.length + CONTROL.indexOf('grad_norm')]
      expect(Math.abs(seen - norm) / norm, `step ${step}, update ${i}`).toBeLessThan(2e-3)
    })
    const after = unpackWeights(layout, await actor.exportWeights())
    for (const { name } of layout.params) {
      const block = Number(/layers\.(\d+)\./.exec(name)?.[1] ?? -1) + 1
      const isStill =
        (current === normed && block === 3) ||
        (current === frozen && (block === 1 || name === 'model.embed_tokens.weight'))
      if (isStill) expect(after[name], `${name} moved in step ${step}`).toEqual(before[name])
      else expect(after[name], `${name} did not move in step ${step}`).not.toEqual(before[name])
    }
  }
  const weights = await actor.exportWeights()
  const moved = Math.hypot(...state.weights.map((w, i) => w - flat[i]))
  const error = Math.hypot(...state.weights.map((w, i) => w - weights[i]))
  expect(moved).toBeGreaterThan(0.5)
  expect(error / moved).toBeLessThan(1e-3)
  // Two updates a step: the embedding and block 1 miss two steps, block 3 two others.
  expect(state.steps).toEqual([12, 12, 16, 12, 16])
})

test('the first mini-batch has a ratio of exactly 1, and equal rewards give exactly no gradient', async () => {
  const whole = phase(L, { ppo_mini_batch_size: 4 })
  const { actor, flat } = await createActor([whole])
  const rows = phaseRows(whole, P + R, TINY)
  const update = async (advantage: number) => {
    const batch = makeRows(5)
    actor.beginStep()
    actor.upload(batch, rows, { advantages: batch.response_mask.map((m) => m * advantage) })
    actor.computeLogProbs(whole, rows)
    actor.updatePolicy(batch, whole, rows, { lr: 0, step: 1 })
    return gpu.read(actor.tensors.sums, actor.tensors.history)
  }
  const [[pgLoss, ppoKl, clipfrac]] = await update(0.75)
  // With every ratio exactly 1 the loss is minus the mean advantage: 0.75 is exact, its mean rounds
  // in the last bit.
  expect([ppoKl, clipfrac]).toEqual([0, 0])
  expect(pgLoss).toBeCloseTo(-0.75, 6)
  const [, records] = await update(0)
  expect(records[CONTROL.indexOf('grad_norm')]).toBe(0)
  expect(records[CONTROL.indexOf('is_finite')]).toBe(1)
  expect(await actor.exportWeights()).toEqual(flat)
})

test('a batch of 8 equals 2 × 4 accumulated, and the loss is the float64 cross-entropy', async () => {
  const batch = makeRows(9)
  const run = async (micro: number) => {
    const sft = (batch_size: number) => ({ ...SFT, batch_size })
    const { actor, exact } = await createActor([sft(8), sft(4)])
    actor.beginStep()
    actor.upload(batch, { micro })
    actor.updateSupervised(batch, micro, OPTIM, 1, 1e-2)
    const [sums, flat] = await gpu.read(actor.tensors.sums, flatOf(actor.tensors.gradients))
    return { loss: sums[0], flat, exact }
  }
  const one = await run(8)
  const two = await run(4)
  const scale = Math.max(...one.flat.map(Math.abs))
  expectClose(two.flat, one.flat, { atol: 2e-6 * scale, rtol: 1e-4 })
  expect(two.loss).toBeCloseTo(one.loss, 5)
  const cache = forwardRef(TINY, one.exact, { ...batch, width: P + R })
  const response = {
    response_ids: batch.response_ids,
    response_mask: batch.response_mask,
    first_column: P - 1,
    response_length: R,
    temperature: 1,
  }
  const { log_probs } = policyRef(TINY, one.exact, cache, L, response)
  const tokens = batch.response_mask.reduce((a, b) => a + b, 0)
  expect(one.loss).toBeCloseTo(sftLossRef(1 / tokens, log_probs, batch.response_mask).loss, 5)
})

test('a non-finite gradient changes nothing, is counted, and does not stop the next step', async () => {
  const { actor, layout } = await createActor([{ ...SFT, batch_size: 8 }])
  const batch = makeRows(3)
  const step = async () => {
    actor.beginStep()
    actor.upload(batch, { micro: 8 })
    actor.updateSupervised(batch, 8, OPTIM, 1, 1e-2)
    const [records] = await gpu.read(actor.tensors.history)
    return Object.fromEntries(CONTROL.map((name, i) => [name, records[i]]))
  }
  expect((await step()).is_finite).toBe(1)
  const good = await actor.exportWeights()
  const bad = good.slice()
  bad[layout.slices.layers[1].down_proj.offset] = Number.NaN
  gpu.write(flatOf(actor.tensors.model.weights), bad)
  const skipped = await step()
  expect([skipped.is_finite, skipped.skipped_steps]).toEqual([0, 1])
  expect(await actor.exportWeights()).toEqual(bad)
  gpu.write(flatOf(actor.tensors.model.weights), good)
  const next = await step()
  expect([next.is_finite, next.skipped_steps, next.optimizer_steps]).toEqual([1, 1, 2])
  expect((await actor.exportWeights()).every(Number.isFinite)).toBe(true)
})

test('the probe reads the entropy of every layer policy of the float64 model', async () => {
  const { actor, exact } = await createActor([{ ...SFT, batch_size: 8 }])
  const batch = makeRows(13)
  const probed = spreadRows(batch, size.probeRows)
  actor.uploadProbe(probed)
  actor.probe()
  const [sums] = await gpu.read(actor.tensors.probe_sums)
  const cache = forwardRef(TINY, exact, { ...probed, width: P + R })
  const response = {
    response_ids: probed.response_ids,
    response_mask: probed.response_mask,
    first_column: P - 1,
    response_length: R,
    temperature: 1,
  }
  const truth = Array.from({ length: L + 1 }, (_, l) =>
    policyRef(TINY, exact, cache, l, response).entropy.reduce((a, b) => a + b, 0),
  )
  expectClose(sums, truth, { rtol: 3e-5 })
  expect(new Set(truth.map((x) => x.toFixed(3))).size).toBe(L + 1)
})

test('packed and unpacked weights are the same', () => {
  const { layout, flat } = testWeights(TINY, 2)
  expect(packWeights(layout, unpackWeights(layout, flat))).toEqual(flat)
})

test('old log-probs of the first mini-batch are those of its update, bit for bit', async () => {
  const current = phase(L, { ppo_epochs: 2 })
  const rows = phaseRows(current, P + R, TINY)
  const batch = makeRows(7)
  const values = randomValues(ROWS, 7)
  const advantages = batch.response_mask.map((m, i) => m * values[Math.floor(i / R)])
  const results = []
  for (const later of [0, rows.mini]) {
    const { actor } = await createActor([current])
    actor.beginStep()
    actor.upload(batch, rows, { advantages })
    actor.computeLogProbs(current, rows, later)
    actor.updatePolicy(batch, current, rows, { lr: 1e-3, step: 0 })
    const { sums, batch: own } = actor.tensors
    results.push(await gpu.read(sums, own.old_log_probs, own.sum_pi_squared))
    results.push([await actor.exportWeights()])
  }
  expect(results.slice(2)).toEqual(results.slice(0, 2))
})
