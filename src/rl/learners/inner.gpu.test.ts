// Inner layers that learn beside the policy of a phase of reinforcement: every step against the
// same in float64.
import { expect, test } from 'vitest'
import { Gpu } from '../../kernels/device/gpu.ts'
import { CONTROL } from '../../kernels/optimizer/optimizer.ts'
import { expectClose, randomValues } from '../../kernels/testing.ts'
import { translatorSize } from '../../model/layout/translators.ts'
import { TINY, testWeights } from '../../model/testing.ts'
import { policyRef } from '../../model/transformer/policy.ref.ts'
import { forwardRef } from '../../model/transformer/transformer.ref.ts'
import type { Inner } from '../config/inner.ts'
import type { RlPhase } from '../config/phase.ts'
import { innerMetrics } from '../metrics/metrics.ts'
import { madeUpBatch, OPTIM, RL } from '../testing.ts'
import { actorStepRef } from './actor.ref.ts'
import { Actor } from './actor.ts'
import { phaseRows } from './base/batch_rows.ts'
import { refTranslators } from './inner.ref.ts'

const gpu = await Gpu.open()
const [P, R, ROWS] = [3, 4, 8]
const LENGTHS = [4, 1, 3, 2, 4, 4, 2, 3].map((response, i) => ({ prompt: 1 + (i % 3), response }))

const phaseOf = (inner: Partial<Inner>): RlPhase => ({
  ...RL,
  target_layer: TINY.num_hidden_layers,
  rollout: { ...RL.rollout, train_batch_size: 4, n: 2, temperature: 0.9, max_response_length: R },
  actor: {
    ...RL.actor,
    ppo_mini_batch_size: 2,
    entropy_coeff: 0.01,
    optim: OPTIM,
    inner: { ...RL.actor.inner, ...inner },
  },
})

const CASES: readonly (readonly [string, Partial<Inner>])[] = [
  ['the final layer teaches two layers', { layers: '2,1', weights: '0.3,0.8', beta: 0.3 }],
  [
    'by the advantage, through the norm',
    { layers: '1', readout: 'normed', token_weight: 'advantage', weights: '0.7' },
  ],
  ['by its sign, reverse KL', { layers: '1,2', token_weight: 'sign', beta: 1, weights: '0.5' }],
  [
    'the same objective at two layers',
    { objective: 'deep_supervision', layers: '1,2', weights: '0.4,0.9' },
  ],
  [
    'the same objective through the norm',
    { objective: 'deep_supervision', layers: '2', weights: '1.5', readout: 'normed' },
  ],
  [
    'the final layer teaches through tuned lenses',
    { layers: '2,1', weights: '0.3,0.8', readout: 'tuned' },
  ],
  [
    'the same objective through Jacobian lenses',
    { objective: 'deep_supervision', layers: '1,2', weights: '0.4,0.9', readout: 'jacobian' },
  ],
]

/** Translators of layers 1 and 2, none of which is near the identity. */
const VALUES = randomValues(2 * translatorSize(TINY.hidden_size), 77).map((x) => 0.3 * x)

test.for(CASES)('%s: losses, norms and weights follow float64', async ([, inner]) => {
  const phase = phaseOf(inner)
  const { layout, flat } = testWeights(TINY, 21)
  const size = {
    prompt_length: P,
    response_length: R,
    batchRows: ROWS,
    microRows: 4,
    updates: 2,
    probeRows: 4,
    hasReference: false,
    students: 2,
    supervised: 2,
    lensLayers: [1, 2],
  }
  const actor = await Actor.create(gpu, layout, size, [phase], { weights: flat })
  if (actor.tensors.lens) gpu.write(actor.tensors.lens, VALUES)
  const translators = refTranslators(
    TINY.hidden_size,
    [1, 2].map((layer, i) => {
      const size = translatorSize(TINY.hidden_size)
      return { layer, readout: 'tuned', values: VALUES.subarray(i * size, (i + 1) * size) }
    }),
  )
  const state = {
    weights: Float64Array.from(flat),
    m: new Float64Array(layout.size),
    v: new Float64Array(layout.size),
    steps: layout.segment_ends.map(() => 0),
  }
  const rows = phaseRows(phase, P + R, TINY)
  const isOwn = phase.actor.inner.objective === 'deep_supervision'
  for (let step = 0; step < 3; step++) {
    const batch = madeUpBatch(LENGTHS, { P, R, seed: 300 + step })
    const advantages = randomValues(ROWS, step).map((x) => 1.5 * x)
    const spread = batch.response_mask.map((m, i) => m * advantages[Math.floor(i / R)])
    actor.beginStep()
    actor.upload(batch, rows, { advantages: spread })
    actor.computeLogProbs(phase, rows)
    if (isOwn) actor.computeInnerLogProbs(phase, rows)
    actor.updatePolicy(batch, phase, rows, { lr: 2e-3, step })
    const { sums, history, teacher, inner: own } = actor.tensors
    if (!teacher || !own) throw new Error('no room')
    const [lossSums, records, teacher_sums, inner_sums] = await gpu.read(
      sums,
      history,
      teacher.sums,
      own.sums,
    )
    const read = { ...phase, translators }
    const truth = actorStepRef(TINY, state, layout, batch, spread, read, 2e-3)
    expect(lossSums[0], `step ${step}`).toBeCloseTo(truth.loss, 4)
    const found = Object.values(innerMetrics(phase.actor.inner, { teacher_sums, inner_sums }))
    expect(found).toHaveLength(truth.inner_losses.length)
    for (const [i, loss] of truth.inner_losses.entries()) expect(found[i]).toBeCloseTo(loss, 4)
    truth.grad_norms.forEach((norm, i) => {
      const seen = records[i * CONTROL.length + CONTROL.indexOf('grad_norm')]
      expect(Math.abs(seen - norm) / norm, `step ${step}, update ${i}`).toBeLessThan(2e-3)
    })
  }
  const weights = await actor.exportWeights()
  const moved = Math.hypot(...state.weights.map((w, i) => w - flat[i]))
  const error = Math.hypot(...state.weights.map((w, i) => w - weights[i]))
  expect(moved).toBeGreaterThan(0.1)
  expect(error / moved).toBeLessThan(2e-3)
})

test('another model scores the sampled tokens as in float64', async () => {
  const config = { ...TINY, hidden_size: 24, num_hidden_layers: 2 }
  const teacher = testWeights(config, 33)
  const { layout, flat } = testWeights(TINY, 21)
  const size = {
    prompt_length: P,
    response_length: R,
    batchRows: ROWS,
    microRows: 4,
    updates: 2,
    probeRows: 4,
    hasReference: false,
    students: 1,
    teacher: teacher.layout,
  }
  const phase = { ...phaseOf({}), algorithm: { ...RL.algorithm, opd_kl_coef: 1 } }
  const actor = await Actor.create(gpu, layout, size, [phase], { weights: flat })
  const rows = phaseRows(phase, P + R, TINY)
  expect(() => actor.computeTeacherLogProbs(phase, rows)).toThrow('expected the weights')
  actor.importTeacher(teacher.flat)
  const batch = madeUpBatch(LENGTHS, { P, R, seed: 9 })
  actor.upload(batch, rows)
  actor.computeTeacherLogProbs(phase, rows)
  const other = actor.tensors.teacher?.other
  if (!other) throw new Error('no room')
  const [found] = await gpu.read(other.log_probs)
  const response = { ...batch, first_column: P - 1, temperature: phase.rollout.temperature }
  const cache = forwardRef(config, teacher.exact, { ...batch, width: P + R })
  const { log_probs } = policyRef(config, teacher.exact, cache, 2, response)
  const counted = Array.from(batch.response_mask, (m, i) => (m ? (found as Float32Array)[i] : 0))
  expectClose(
    counted,
    log_probs.map((x, i) => (batch.response_mask[i] ? x : 0)),
    {
      atol: 2e-5,
      rtol: 2e-5,
    },
  )
})
