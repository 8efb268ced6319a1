// Phases of preferences in the real trainer: against float64, over a restart, and learning.
import { afterAll, expect, test } from 'vitest'
import { Gpu } from '../../../kernels/device/gpu.ts'
import { backwardRef } from '../../../model/transformer/backward.ref.ts'
import {
  eachResponseToken,
  policyRef,
  type RefTranslators,
  refReadout,
} from '../../../model/transformer/policy.ref.ts'
import { forwardRef } from '../../../model/transformer/transformer.ref.ts'
import type { Task } from '../../../tasks/task/task.ts'
import type { PreferencePhase } from '../../config/phase.ts'
import type { TrainerConfig } from '../../config/trainer_config.ts'
import { refTranslators } from '../../learners/inner.ref.ts'
import { mismatchedKl } from '../../preferences/answer_objective.ts'
import { PREFERENCE_LOSSES, type PreferenceLossName } from '../../preferences/losses.ts'
import { type PreferenceSettings, preferenceObjective } from '../../preferences/settings.ts'
import { mismatched, type SequenceRow } from '../../reward/pairs.ts'
import type { Preference } from '../../reward/preferences.ts'
import { CONFIG, OPTIM, REWARD_MODEL, SFT } from '../../testing.ts'
import { Learner } from '../learner.ref.ts'
import { numbers } from '../moved/testing.ts'
import { planMemory } from '../parts/memory.ts'
import type { StepResult } from '../parts/step_result.ts'
import { Trainer } from '../trainer.ts'
import { updateOf } from './preference_step.ts'
import { batchOfRows } from './scored_rows.ts'
import { preferencePhase } from './testing.ts'

/** The runs share a device, which has then compiled most of what the next one needs. */
const shared = Gpu.open()
afterAll(async () => (await shared).destroy())
const create = async (config: TrainerConfig) => Trainer.create(await shared, config)

const INNER = { target_layer: 2 }
const ONE_PAIR = { batch_size: 1, pairs: { ...REWARD_MODEL.pairs, count: 1, held_out: 1 } }
/** What a loss cannot do without. */
const NEEDED: Partial<Record<PreferenceLossName, Partial<PreferenceSettings>>> = {
  exo_pair: { label_smoothing: 0.1 },
  robust: { label_smoothing: 0.1 },
}
/** Where LONG_TESTS is not set: a loss of pairs and one of single answers. A loss is computed on
 * the CPU, where preferences.test.ts has each; the GPU hears of its gradient alone. */
const LOSSES = process.env.LONG_TESTS
  ? PREFERENCE_LOSSES
  : PREFERENCE_LOSSES.filter(({ name }) => name === 'sigmoid' || name === 'kto')
type Case = readonly [string, Partial<PreferenceSettings>, Partial<PreferencePhase>]
const CASES: readonly Case[] = [
  ['DPO with imitation', { beta: 0.5, rpo_alpha: 0.3, ld_alpha: 0.6 }, {}],
  ['DPO weighted, of an inner layer', { use_weighting: true, beta: 0.7 }, INNER],
  ['DPO of an inner layer through a tuned lens', {}, { ...INNER, target_readout: 'tuned' }],
  ['DPO without a reference', { reference_free: true, beta: 0.5 }, {}],
  ['SimPO', { loss_type: 'simpo', beta: 2, cpo_alpha: 0.5 }, {}],
  [
    'KTO with weights',
    { loss_type: 'kto', beta: 0.5, undesirable_weight: 1.5 },
    // Of one pair the mismatched rows do not depend on the order of the batch.
    ONE_PAIR,
  ],
  ...LOSSES.map(
    (loss): Case => [
      `the loss ${loss.name}`,
      { loss_type: loss.name, ...NEEDED[loss.name] },
      { steps: 2, ...(loss.data === 'answers' && loss.hasKl ? ONE_PAIR : {}) },
    ],
  ),
]

test.for(CASES)('%s follows float64', async ([, settings, change]) => {
  const phase = preferencePhase(settings, change)
  const trainer = await create({ ...CONFIG, phases: [SFT, phase] })
  while (trainer.step < SFT.steps) await trainer.next()
  const start = await trainer.exportWeights()
  const learner = new Learner(CONFIG.model, 'lm_head', start)
  const first = new Learner(CONFIG.model, 'lm_head', start).params
  for (let step = 1; step <= phase.steps; step++) {
    const { metrics } = await trainer.next()
    const pairs = trainer.preferences?.training ?? []
    expect(pairs).toHaveLength(phase.batch_size)
    const { lens } = await trainer.exportState()
    const translators = refTranslators(CONFIG.model.hidden_size, lens)
    const truth = float64Step(learner, { params: first, translators }, phase, pairs)
    expect(metrics['preference/loss']).toBeCloseTo(truth.loss, 4)
    for (const [name, x] of Object.entries(truth.metrics))
      if (name.includes('/')) expect(metrics[name], name).toBeCloseTo(x, 3)
    expect(metrics['actor/grad_norm'] / truth.grad_norm).toBeCloseTo(1, 3)
    // Held-out pairs are scored after the first step and after the last.
    expect('eval_rewards/accuracies' in metrics).toBe(step === 1 || step === phase.steps)
  }
  const end = await trainer.exportWeights()
  const changed = start.some((x, i) => x !== end[i])
  expect(changed).toBe(true)
  if (change.target_layer === undefined) return
  // What lies above an inner layer keeps its bits; the norm is read through by a lens.
  const rests = change.target_readout ? /layers\.2\./ : /layers\.2\.|model\.norm/
  const { params } = trainer.layout
  for (const { name, offset, size } of params)
    if (rests.test(name))
      expect(end.slice(offset, offset + size), name).toEqual(start.slice(offset, offset + size))
})

/** One update of all pairs in float64. */
function float64Step(
  learner: Learner,
  { params: first, translators }: { params: Learner['params']; translators: RefTranslators },
  phase: PreferencePhase,
  pairs: readonly Preference[],
) {
  const { max_prompt_length: prompt_length, max_response_length: response_length } = CONFIG.task
  const { target_layer } = phase
  const score = (all: readonly SequenceRow[]) => {
    const batch = batchOfRows(all, { prompt_length, response_length })
    const readout = refReadout(phase.target_readout, target_layer, translators)
    const response = { ...batch, first_column: prompt_length - 1, temperature: 1, readout }
    const read = (params: Learner['params']) => {
      const cache = forwardRef(CONFIG.model, params, {
        ...batch,
        width: prompt_length + response_length,
      })
      return { cache, ...policyRef(CONFIG.model, params, cache, target_layer, response) }
    }
    const { cache, log_probs } = read(learner.params)
    const sum_p_squared = new Float64Array(log_probs.length)
    eachResponseToken(CONFIG.model, learner.params, cache, target_layer, response, (i, _, logP) => {
      sum_p_squared[i] = logP.reduce((sum, x) => sum + Math.exp(2 * x), 0)
    })
    const ref_log_probs = read(first).log_probs
    const { rows, response_mask: completion_mask } = batch
    const answers = { rows, columns: response_length, log_probs, ref_log_probs, completion_mask }
    return { response, cache, answers: { ...answers, sum_p_squared } }
  }
  const rows = [
    ...pairs.map(({ chosen }) => chosen.row),
    ...pairs.map(({ rejected }) => rejected.row),
  ]
  const { response, cache, answers } = score(rows)
  const objective = preferenceObjective(phase.preference)
  const shifted = rows.map((row, i) =>
    mismatched(row, rows[(i + rows.length - 1) % rows.length], prompt_length),
  )
  const kl = objective.data === 'answers' ? mismatchedKl(score(shifted).answers) : 0
  const labels = rows.map((_, b) => b < pairs.length)
  const found = updateOf(objective, answers, kl, labels)
  const d_entropy = new Float64Array(answers.log_probs.length)
  const terms = { ...response, d_log_probs: found.d_log_probs, d_entropy }
  const grads = backwardRef(CONFIG.model, learner.params, cache, target_layer, terms)
  const grad_norm = learner.apply(grads, phase, phase.optim, phase.grad_clip)
  return { ...found, grad_norm }
}

const RESUMED: readonly (readonly [string, Partial<PreferenceSettings>, number])[] = [
  ['new pairs every 2 steps', { rpo_alpha: 0.2 }, 2],
  ['imitation of better answers', { rpo_alpha: 0.2 }, 0],
  ...LOSSES.map(({ name }): readonly [string, Partial<PreferenceSettings>, number] => [
    `the loss ${name}`,
    { loss_type: name, ...NEEDED[name] },
    0,
  ]),
]

test.for(RESUMED)(
  'a run that continues in another trainer has the same bits, with %s',
  async ([, settings, refresh_steps]) => {
    const phase = preferencePhase(settings, {
      steps: 4,
      batch_size: 2,
      refresh_steps,
      pairs: { ...REWARD_MODEL.pairs, count: 7, held_out: 3 },
    })
    const config = { ...CONFIG, phases: [SFT, phase] }
    const whole = await create(config)
    const results: ReturnType<typeof numbers>[] = []
    while (!whole.isFinished) results.push(numbers(await whole.next()))
    const weights = await whole.exportWeights()
    const begun = await create(config)
    // Step 0 and the warm start, then two steps on pairs.
    for (let i = 0; i < SFT.steps + 3; i++) await begun.next()
    const state = await begun.exportState()
    expect(state.preferences?.judged.length).toBe(10)
    const other = await create(config)
    other.importState(state)
    const rest = []
    while (!other.isFinished) rest.push(numbers(await other.next()))
    expect(rest).toEqual(results.slice(-2))
    expect(await other.exportWeights()).toEqual(weights)
  },
)

test.for(LOSSES.map(({ name }) => name))(
  'the loss %s makes better answers likelier than worse ones',
  async (loss_type) => {
    const change = { steps: 12, optim: { ...OPTIM, lr: 5e-3 } }
    // Of DiscoPOP the loss rises with the margin where policy and reference are the same, unless
    // discopop_tau is large: of its slope the switch is 0.31 β / (4 τ), the rest −0.75 β.
    const settings = { loss_type, beta: 0.5, discopop_tau: 1, ...NEEDED[loss_type] }
    const trainer = await create({ ...CONFIG, phases: [preferencePhase(settings, change)] })
    const apart: number[] = []
    while (!trainer.isFinished) {
      const { metrics } = await trainer.next()
      if ('logps/chosen' in metrics) apart.push(metrics['logps/chosen'] - metrics['logps/rejected'])
    }
    expect(apart).toHaveLength(12)
    // Nats that the two are further apart after eleven updates of the same four pairs.
    expect(apart[11] - apart[0]).toBeGreaterThan(0.05)
  },
)

/** Demonstrations say 0 and 1 equally often; the judge prefers 1. */
const TWO_ANSWERS: Task = {
  ...CONFIG.task,
  id: 'two_answers',
  sample: (seed, index, split) => ({
    ...CONFIG.task.sample(seed, index, split),
    ground_truth: '1',
    demonstration: `${(seed + (index >> 1)) % 2}`,
  }),
  score: (_, response) => (response === '1' ? 1 : 0),
}

test.skipIf(!process.env.LONG_TESTS)(
  'the policy learns what the judge prefers without ever seeing its score',
  async () => {
    const trainer = await create({
      ...CONFIG,
      task: TWO_ANSWERS,
      phases: [
        { ...SFT, steps: 36, batch_size: 16, optim: { ...SFT.optim, lr: 8e-3 } },
        preferencePhase(
          { beta: 0.3 },
          {
            steps: 30,
            batch_size: 16,
            optim: { ...OPTIM, lr: 5e-3 },
            pairs: { ...REWARD_MODEL.pairs, count: 48, held_out: 16 },
          },
        ),
      ],
      validation: { test_freq: 36, prompts: 10, n: 4, temperature: 1 },
      probe: { freq: null, rows: 8 },
    })
    const results: StepResult[] = []
    while (!trainer.isFinished) results.push(await trainer.next())
    const series = (name: string) => results.flatMap(({ metrics }) => metrics[name] ?? [])
    const [first] = series('rewards/accuracies')
    // Policy and reference are the same at first, and a margin of 0 is no win.
    expect(first).toBe(0)
    expect(series('preference/loss')[0]).toBeCloseTo(Math.log(2), 6)
    const accuracy = series('val-core/two_answers/acc/mean@4')
    // Answers to ten problems of the run's own; 16 held-out pairs. Measured: 0.4 and 0.85; 0.92.
    expect(accuracy[1]).toBeLessThan(0.6)
    expect(accuracy.at(-1)).toBeGreaterThan(0.75)
    expect(series('eval_rewards/accuracies').at(-1)).toBeGreaterThan(0.8)
  },
)

test('the reference of an adapter is its base, which stays as it is', async () => {
  const lora = {
    r: 4,
    lora_alpha: 8,
    use_rslora: false,
    target_modules: ['q_proj', 'v_proj'] as const,
    layers_to_transform: null,
  }
  const config = { ...CONFIG, model: { ...CONFIG.model, lora } }
  const trainer = await create({ ...config, phases: [preferencePhase({ beta: 0.5 })] })
  const base = await trainer.exportWeights()
  const results: StepResult[] = []
  while (!trainer.isFinished) results.push(await trainer.next())
  const margins = results.flatMap(({ metrics }) => metrics['rewards/margins'] ?? [])
  // An adapter that has learned nothing leaves the policy as its base.
  expect(margins[0]).toBe(0)
  expect(margins[2]).toBeGreaterThan(1e-4)
  expect(await trainer.exportWeights()).toEqual(base)
})

test('memory is as planned, and once prepared nothing is created', async () => {
  const gpu = await Gpu.open()
  const before = gpu.counts.live_bytes
  const config = { ...CONFIG, phases: [preferencePhase({ loss_type: 'kto' }, { steps: 5 })] }
  const trainer = await Trainer.create(gpu, config)
  expect(gpu.counts.live_bytes - before).toBe(planMemory(config).total())
  await trainer.prepareLater()
  const made = { ...gpu.counts }
  while (!trainer.isFinished) await trainer.next()
  const { buffers, bind_groups, pipelines, live_bytes } = gpu.counts
  expect([buffers, bind_groups, pipelines, live_bytes]).toEqual([
    made.buffers,
    made.bind_groups,
    made.pipelines,
    made.live_bytes,
  ])
  trainer.destroy()
})
