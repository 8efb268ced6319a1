import { expect, test } from 'vitest'
import { experimentFields } from '../../document/experiment/form/form.ts'
import type { Experiment } from '../../document/experiment/schema/schema.ts'
import { arithmetic } from '../../tasks/tokenizers/arithmetic.ts'
import { DIAGNOSES, type Diagnosis, type DiagnosisName } from './diagnosis.ts'
import {
  experimentOf,
  fall,
  fill,
  gae,
  INFORMATIVE,
  type Made,
  named,
  plain,
  SCORE,
  START,
  withValidation,
} from './testing.ts'

const critics = (steps: number, explained: number, last = 0.2, first = 0.2) => ({
  'critic/vf_loss': [...fill(10, first), ...fill(steps - 20, 0.5), ...fill(10, last)],
  'critic/vf_explained_var': fill(steps, explained),
})
const klLoss = experimentOf({ actor: { use_kl_loss: true } })
const klReward = experimentOf({ algorithm: { use_kl_in_reward: true } })
const FLOOR = 0.02 * Math.log(arithmetic.vocab_size)

const programmed = experimentOf({
  reward: { parts: [{ id: 'program', code: `sha256-${'0'.repeat(64)}`, name: 'reward.py' }] },
})
// No other test has a file of this hash, and files that were read are kept.
const asking = experimentOf({
  task: { id: 'calculator_products' },
  rollout: { max_turns: 2 },
  tools: [{ id: 'program', code: `sha256-${'7'.repeat(64)}`, name: 'tool.py' }],
})
const { train_batch_size, n } = programmed.rollout
/** This share of half a call to each response failed. */
const unanswered = (share: number): Made => ({
  'tool_calls/timeouts': fill(5, 0),
  'tool_calls/errors': fill(5, (share / 2) * train_batch_size * n),
  'tool_calls/mean': fill(5, 0.5),
})
/** This share of every batch took too long. */
const unscored = (share: number): Made => ({
  'reward/timeouts': fill(5, share * train_batch_size * n),
  'reward/errors': fill(5, 0),
})

/** Each rule at its threshold, and just not there. */
const PREFERENCES = experimentOf({}, { kind: 'preference' })

const taught = (use_task_rewards: boolean) =>
  experimentOf({
    teacher: { source: `sha256-${'1'.repeat(64)}` },
    algorithm: { opd_kl_coef: 1, use_task_rewards },
  })

const targeted = experimentOf({ actor: { use_adaptive_entropy: true, entropy_target: 1 } })
const below = (entropy: number) => ({
  'actor/entropy': [...fill(29, 0.1), entropy],
  'actor/entropy_coeff': fill(30, 1),
  [SCORE]: fill(30, 0.5),
})

const EDGES: readonly (readonly [DiagnosisName, string, Made, Made, Experiment?])[] = [
  ['entropy_target_missed', '79 % of the target', below(0.79), below(0.81), targeted],
  [
    'chosen_logps_fall',
    'nats per answer',
    { 'logps/chosen': [...fill(5, -1), ...fill(5, -2.01)] },
    { 'logps/chosen': [...fill(5, -1), ...fill(5, -2)] },
    PREFERENCES,
  ],
  [
    'teacher_caught_up',
    'nats per token',
    { 'distillation/loss': [1, ...fill(5, 0.01)] },
    { 'distillation/loss': [...fill(4, 0.001), 0.0101] },
    experimentOf({}, { kind: 'distill', target_layer: 2 }),
  ],
  [
    'teacher_caught_up',
    'nats per sampled token, on either side of 0',
    { 'distillation/reverse_kl': [1, ...fill(4, 0.002), -0.01] },
    { 'distillation/reverse_kl': [...fill(4, 0.001), -0.0101] },
    taught(true),
  ],
  [
    'teacher_caught_up',
    'nats per sampled token, without rewards',
    { 'distillation/reverse_kl': fill(5, 0.01) },
    { 'distillation/reverse_kl': fill(4, 0) },
    taught(false),
  ],
  [
    'no_informative_groups',
    'share',
    { [INFORMATIVE]: fill(5, 0.0999) },
    { [INFORMATIVE]: fill(5, 0.1) },
  ],
  [
    'clip_fraction',
    'share',
    { 'actor/pg_clipfrac': fill(5, 0.201) },
    { 'actor/pg_clipfrac': fill(5, 0.2) },
  ],
  [
    'kl_runaway',
    'within a step',
    { 'actor/ppo_kl': fill(5, -0.101) },
    { 'actor/ppo_kl': fill(5, 0.1) },
  ],
  // Two updates per step, and the metric is their sum.
  [
    'kl_runaway',
    'in the loss',
    { 'actor/kl_loss': fill(5, 2.01) },
    { 'actor/kl_loss': fill(5, 2) },
    klLoss,
  ],
  [
    'kl_runaway',
    'in the reward',
    { 'actor/reward_kl_penalty': fill(5, 1.01) },
    { 'actor/reward_kl_penalty': fill(5, 1) },
    klReward,
  ],
  [
    'entropy_collapse',
    'floor',
    { 'actor/entropy': [...fill(5, 1.4), ...fill(5, FLOOR - 1e-6)] },
    { 'actor/entropy': [...fill(5, 1.4), ...fill(5, FLOOR + 1e-6)] },
  ],
  [
    'entropy_collapse',
    'a phase that began low',
    { 'actor/entropy': [...fill(5, 0.1), ...fill(5, 0.0249)] },
    { 'actor/entropy': [...fill(5, 0.1), ...fill(5, 0.0251)] },
  ],
  ['value_loss_flat', 'explained', critics(40, 0.0299), critics(40, 0.0301), gae],
  ['value_loss_flat', 'steps', critics(40, 0), critics(39, 0), gae],
  ['value_loss_flat', 'loss', critics(40, 0, 0.181), critics(40, 0, 0.179), gae],
  [
    'value_loss_flat',
    'nothing to explain',
    critics(40, 0, 0.001, 0.001),
    critics(40, 0, 9e-4, 9e-4),
    gae,
  ],
  [
    'cut_off',
    'share',
    { 'response/not_ended_ratio': fill(5, 0.501) },
    { 'response/not_ended_ratio': fill(5, 0.5) },
  ],
  [
    'length_growth',
    'half as long again',
    { 'response_length/mean': [...fill(5, 4), ...fill(5, 6)] },
    { 'response_length/mean': [...fill(5, 4), ...fill(5, 5.99)] },
  ],
  [
    'length_growth',
    'a whole token',
    { 'response_length/mean': [...fill(5, 1.5), ...fill(5, 2.5)] },
    { 'response_length/mean': [...fill(5, 1.5), ...fill(5, 2.49)] },
  ],
  ['reward_collapse', 'half', fall(0.2), fall(0.201)],
  [
    'reward_collapse',
    'within twenty steps',
    { [SCORE]: [0.8, 0.8, 0.8, ...fill(17, 0.5), 0.4, 0.4, 0.4] },
    { [SCORE]: [0.8, 0.8, 0.8, ...fill(18, 0.5), 0.4, 0.4, 0.4] },
  ],
  [
    'reward_collapse',
    'from a tenth',
    { [SCORE]: [...fill(20, 0.1), ...fill(3, 0.02)] },
    { [SCORE]: [...fill(20, 0.099), ...fill(3, 0.02)] },
  ],
  ['unscored', 'share', unscored(0.0101), unscored(0.01), programmed],
  ['unanswered', 'share', unanswered(0.0101), unanswered(0.01), asking],
]

test.for(EDGES)(
  '%s, %s: found at the threshold and not before',
  ([name, , at, before, experiment]) => {
    expect(named(name, at, experiment)?.name).toBe(name)
    expect(named(name, before, experiment)).toBeUndefined()
  },
)

test('held_out_gap: two evaluations in a row, each more than 15 points below the steps around it', () => {
  const trained = { [SCORE]: fill(20, 0.5) }
  const at = (first: number, second: number) =>
    withValidation(trained, [
      [10, first],
      [20, second],
    ])
  expect(at(0.34, 0.3)).toMatchObject({ is_severe: false, step: START + 20 })
  expect(at(0.1, 0.1)?.is_severe).toBe(true)
  expect(at(0.36, 0.1)).toBeUndefined()
  expect(at(0.1, 0.36)).toBeUndefined()
  expect(withValidation(trained, [[20, 0.1]])).toBeUndefined()
  // Of the warm start's end: another phase.
  expect(
    withValidation(trained, [
      [0, 0.1],
      [20, 0.1],
    ]),
  ).toBeUndefined()
})

/** All edges that are found, with the gap that needs evaluations. */
function everyFinding(): [Diagnosis, Experiment][] {
  const gap = withValidation({ [SCORE]: fill(20, 0.5) }, [
    [10, 0.1],
    [20, 0.1],
  ])
  const found = EDGES.flatMap(([name, , at, , experiment = plain]) => {
    const finding = named(name, at, experiment)
    return finding ? [[finding, experiment] as [Diagnosis, Experiment]] : []
  })
  return gap ? [...found, [gap, plain]] : found
}

test('every diagnosis names two settings that the form shows', () => {
  const all = everyFinding()
  expect(new Set(all.map(([{ name }]) => name))).toEqual(new Set(DIAGNOSES))
  for (const [{ name, advice }, experiment] of all) {
    const fields = new Map(experimentFields(experiment).map((field) => [field.path, field]))
    expect(advice[0].path, name).not.toBe(advice[1].path)
    for (const { path, text } of advice) {
      expect(fields.get(path)?.hasEffect, `${name}: ${path}`).toBe(true)
      expect(text.length).toBeGreaterThan(10)
    }
  }
})
