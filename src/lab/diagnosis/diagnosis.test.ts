import { expect, test } from 'vitest'
import { arithmetic } from '../../tasks/tokenizers/arithmetic.ts'
import { appendMetrics, Series } from '../columns/series.ts'
import { parseExperiment } from '../experiment/experiment.ts'
import { experimentFields } from '../experiment/form/form.ts'
import type { Experiment } from '../experiment/schema.ts'
import { presetOf } from '../presets/presets.ts'
import {
  DIAGNOSES,
  type Diagnosis,
  type DiagnosisName,
  DiagnosisRecord,
  diagnose,
  isWorse,
} from './diagnosis.ts'

/** Steps of the warm start before the phase that is looked at. */
const START = 10

function experimentOf(document: object = {}, phase: object = {}): Experiment {
  const phases = [
    { kind: 'sft', steps: START },
    { kind: 'rl', steps: 500, ...phase },
  ]
  const parsed = parseExperiment({ phases, ...document })
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.issues))
  return parsed.experiment
}

const plain = experimentOf()
const fill = (count: number, value: number) => new Array<number>(count).fill(value)

/** Columns with one value per step from the first of the phase, behind ten steps of a warm start that say the opposite. */
function columns(metrics: Readonly<Record<string, readonly number[]>>): Map<string, Series> {
  const series = new Map<string, Series>()
  for (const [name, values] of Object.entries(metrics)) {
    const column = new Series()
    for (let step = 0; step <= START; step++) column.push(step, values[0] > 0.5 ? 0 : 1)
    values.forEach((value, i) => {
      column.push(START + 1 + i, value)
    })
    series.set(name, column)
  }
  return series
}

type Made = Readonly<Record<string, readonly number[]>>
const view = (metrics: Made, experiment = plain) => ({
  experiment,
  phase: 1,
  phase_start: START,
  series: columns(metrics),
})
const find = (metrics: Made, experiment?: Experiment) => diagnose(view(metrics, experiment))
const named = (name: DiagnosisName, metrics: Made, experiment?: Experiment) =>
  find(metrics, experiment).find((finding) => finding.name === name)

/** A held-out accuracy at these steps of the phase. */
function withValidation(
  metrics: Made,
  accuracy: readonly (readonly [number, number])[],
  experiment = plain,
) {
  const made = view(metrics, experiment)
  const column = new Series()
  for (const [step, value] of accuracy) column.push(START + step, value)
  made.series.set('val-core/sort_digits/acc/mean@1', column)
  return diagnose(made).find(({ name }) => name === 'held_out_gap')
}

const INFORMATIVE = 'group/informative'
const SCORE = 'critic/score/mean'
const critics = (steps: number, explained: number, last = 0.2, first = 0.2) => ({
  'critic/vf_loss': [...fill(10, first), ...fill(steps - 20, 0.5), ...fill(10, last)],
  'critic/vf_explained_var': fill(steps, explained),
})
const gae = experimentOf({ rollout: { train_batch_size: 64, n: 1 } }, { adv_estimator: 'gae' })
const kl_loss = experimentOf({ actor: { use_kl_loss: true } })
const kl_reward = experimentOf({ algorithm: { use_kl_in_reward: true } })
const FLOOR = 0.02 * Math.log(arithmetic.vocab_size)
const fall = (to: number) => ({ [SCORE]: [...fill(20, 0.4), ...fill(3, to)] })

/** Each rule at its threshold, and just not there. */
const EDGES: readonly (readonly [DiagnosisName, string, Made, Made, Experiment?])[] = [
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
    kl_loss,
  ],
  [
    'kl_runaway',
    'in the reward',
    { 'actor/reward_kl_penalty': fill(5, 1.01) },
    { 'actor/reward_kl_penalty': fill(5, 1) },
    kl_reward,
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

test('held-out answers of another temperature are not compared with those of training', () => {
  const trained = { [SCORE]: fill(20, 0.5) }
  const accuracy = [
    [10, 0.1],
    [20, 0.1],
  ] as const
  const at = (temperature: number) => {
    const validation = { ...plain.validation, temperature }
    return withValidation(trained, accuracy, { ...plain, validation })
  }
  expect(at(0)?.name).toBe('held_out_gap')
  expect(at(1)?.name).toBe('held_out_gap')
  expect(at(2)).toBeUndefined()
})

test('a score that falls is no gap: evaluations are compared with the steps around them', () => {
  const score = Array.from({ length: 30 }, (_, i) => 0.9 - 0.03 * i)
  const accuracy = [10, 20, 30].map((step) => [step, score[step - 1]] as const)
  expect(withValidation({ [SCORE]: score }, accuracy)).toBeUndefined()
})

test('fewer steps than the window are no diagnosis', () => {
  expect(find({ 'actor/pg_clipfrac': fill(4, 1), [INFORMATIVE]: fill(4, 0) })).toEqual([])
})

test('evidence says the numbers, and the worse half is severe and stands first', () => {
  const found = find({
    'actor/pg_clipfrac': fill(5, 0.3),
    [INFORMATIVE]: fill(5, 0.0125),
    [SCORE]: fill(5, 0.02),
  })
  expect(found.map(({ name, is_severe }) => [name, is_severe])).toEqual([
    ['no_informative_groups', true],
    ['clip_fraction', false],
  ])
  expect(found[0].evidence).toContain('In 1.3 % of the groups')
  expect(found[0].evidence).toContain('the mean score is 0.02')
  expect(found[1].evidence).toContain('30 % of the tokens')
  expect(found[1]).toMatchObject({ phase: 1, step: START + 5 })
  expect(found[1].excess).toBeCloseTo(0.5, 9)
  expect(named('clip_fraction', { 'actor/pg_clipfrac': fill(5, 0.501) })?.is_severe).toBe(true)
})

test('a solved task is no failure', () => {
  const solved = { [INFORMATIVE]: fill(5, 0), [SCORE]: fill(5, 0.95) }
  const found = find({ ...solved, 'actor/entropy': [...fill(5, 1), ...fill(5, 0.001)] })
  expect(found.map(({ name, is_severe }) => [name, is_severe])).toEqual([
    ['no_informative_groups', false],
  ])
})

test('groups are no matter where nobody compares them', () => {
  const same = { [INFORMATIVE]: fill(5, 0), [SCORE]: fill(5, 0.2) }
  expect(find(same, gae)).toEqual([])
  expect(find(same, experimentOf({}, { adv_estimator: 'reinforce_plus_plus' }))).toEqual([])
})

test('groups that agree and responses that do not end are blamed on what was there before', () => {
  const advice = (metrics: Made) =>
    Object.fromEntries(find(metrics).map((one) => [one.name, one.advice.map(({ path }) => path)]))
  const unended = 'response/not_ended_ratio'
  const never = { [INFORMATIVE]: fill(10, 0), [SCORE]: fill(10, 0.01), [unended]: fill(10, 0.8) }
  expect(advice(never)).toEqual({
    no_informative_groups: ['phases.0.steps', 'rollout.n'],
    cut_off: ['rollout.max_response_length', 'phases.0.steps'],
  })
  const lost = { ...never, [SCORE]: [...fill(5, 0.2), ...fill(5, 0.01)] }
  const slower = ['actor.optim.lr', 'actor.optim.lr_warmup_steps']
  expect(advice({ ...lost, [unended]: [...fill(5, 0.2), ...fill(5, 0.8)] })).toEqual({
    reward_collapse: slower,
    no_informative_groups: slower,
    cut_off: slower,
  })
})

test('a large entropy bonus is named where a score has fallen', () => {
  const paths = (entropy_coeff: number) =>
    named('reward_collapse', fall(0.05), experimentOf({ actor: { entropy_coeff } }))?.advice.map(
      ({ path }) => path,
    )
  expect(paths(0.03)).toEqual(['actor.optim.lr', 'actor.optim.lr_warmup_steps'])
  expect(paths(0.1)).toEqual(['actor.optim.lr', 'actor.entropy_coeff'])
})

test('a collapse stays found until the score comes back', () => {
  const low = [...fill(20, 0.4), ...fill(150, 0.01)]
  const found = named('reward_collapse', { [SCORE]: low })
  expect(found?.evidence).toMatch(
    /fell from 0\.4 at step \d+ to 0\.01 at step \d+; now it is 0\.01/,
  )
  expect(named('reward_collapse', { [SCORE]: [...low, ...fill(3, 0.3)] })).toBeUndefined()
})

test('few responses fall by half by chance', () => {
  const few = experimentOf({
    rollout: { train_batch_size: 4, n: 2 },
    actor: { ppo_mini_batch_size: 4 },
  })
  const metrics = { [SCORE]: [...fill(20, 0.2), ...fill(3, 0.08)] }
  expect(named('reward_collapse', metrics, few)).toBeUndefined()
  expect(named('reward_collapse', metrics)).toBeDefined()
})

test('where something else than the task’s score is trained on, the task’s is judged', () => {
  const made = { [SCORE]: fill(23, 3), 'task/score/mean': [...fill(20, 0.4), ...fill(3, 0.1)] }
  expect(named('reward_collapse', made)?.evidence).toContain('fell from 0.4')
})

test('KL in the loss is per token, however the loss is averaged', () => {
  const metrics = { 'actor/kl_loss': fill(5, 6), 'response_length/mean': fill(5, 4) }
  const averaged = (actor: object) =>
    named('kl_runaway', metrics, experimentOf({ actor: { use_kl_loss: true, ...actor } }))
  expect(averaged({})?.evidence).toContain('is 3 nats per token')
  expect(averaged({ ppo_epochs: 2 })?.evidence).toContain('is 1.5 nats per token')
  expect(averaged({ loss_agg_mode: 'seq-mean-token-sum' })).toBeUndefined()
  const norm = { loss_agg_mode: 'seq-mean-token-sum-norm', loss_scale_factor: 8 }
  expect(averaged(norm)?.evidence).toContain('is 6 nats per token')
})

test('values that are not finite are passed over', () => {
  const holes = [0.3, Number.NaN, 0.3, 0.3, Number.POSITIVE_INFINITY, 0.3, 0.3]
  expect(named('clip_fraction', { 'actor/pg_clipfrac': holes })?.evidence).toContain('30 %')
  expect(find({ 'actor/pg_clipfrac': fill(9, Number.NaN) })).toEqual([])
})

test('only reinforcement is looked at', () => {
  const bad = view({ 'actor/pg_clipfrac': fill(9, 1) })
  expect(diagnose({ ...bad, phase: 0, phase_start: 0 })).toEqual([])
  expect(diagnose({ ...bad, phase: 7 })).toEqual([])
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
      expect(fields.get(path)?.has_effect, `${name}: ${path}`).toBe(true)
      expect(text.length).toBeGreaterThan(10)
    }
  }
})

test('without a warm start the task is what can be changed', () => {
  const cold = parseExperiment({ phases: [{ kind: 'rl' }] })
  if (!cold.ok) throw new Error('no experiment')
  const made = view({ [INFORMATIVE]: fill(5, 0) }, cold.experiment)
  const [found] = diagnose({ ...made, phase: 0 })
  expect(found.advice.map(({ path }) => path)).toEqual(['task.id', 'rollout.n'])
})

test('advice points at the phase’s own setting where it has one', () => {
  const own = experimentOf({}, { actor: { optim: { lr: 0.01 } } })
  const path = (experiment: Experiment) =>
    named('clip_fraction', { 'actor/pg_clipfrac': fill(5, 0.4) }, experiment)?.advice[0].path
  expect(path(own)).toBe('phases.1.actor.optim.lr')
  expect(path(plain)).toBe('actor.optim.lr')
})

test('a record keeps each diagnosis of a phase once, at its worst and since when', () => {
  const record = new DiagnosisRecord()
  for (const share of [0.3, 0.6, 0.4]) {
    const metrics = { 'actor/pg_clipfrac': fill(5, share) }
    record.add(find(metrics).map((found) => ({ ...found, step: Math.round(100 * share) })))
  }
  expect(record.all()).toMatchObject([
    { name: 'clip_fraction', phase: 1, first_step: 30, step: 60, is_severe: true },
  ])
})

test('worse is a quarter of a threshold more, or severe', () => {
  const at = (excess: number, is_severe = false) => ({ excess, is_severe })
  expect(isWorse(at(0.25), at(0))).toBe(false)
  expect(isWorse(at(0.26), at(0))).toBe(true)
  expect(isWorse(at(0, true), at(1))).toBe(true)
  expect(isWorse(at(1), at(1, true))).toBe(false)
})

/** The last phase of preset tiny, seed 1, as `lab train tiny` wrote it on lavapipe; three digits of each number. */
const HEALTHY: Readonly<Record<string, string>> = {
  'critic/score/mean':
    '.242 .195 .164 .242 .203 .273 .281 .32 .258 .305 .43 .352 .211 .273 .297 .445 .344 .312 .344 ' +
    '.344 .422 .383 .422 .375 .422 .414 .453 .352 .406 .445 .422 .484 .484 .523 .445 .469 .484 ' +
    '.453 .516 .5 .539 .562 .484 .578 .539 .492 .625 .625 .609 .594',
  'group/informative':
    '.719 .594 .531 .656 .594 .781 .688 .75 .656 .719 .844 .844 .719 .688 .719 .812 .875 .719 ' +
    '.781 .688 .781 .719 .75 .688 .719 .812 .781 .531 .781 .812 .781 .75 .844 .75 .75 .781 .781 ' +
    '.781 .844 .75 .75 .75 .781 .688 .656 .812 .719 .875 .75 .531',
  'actor/entropy':
    '1.37 1.38 1.4 1.39 1.38 1.32 1.29 1.24 1.27 1.23 1.2 1.25 1.25 1.22 1.18 1.09 1.11 1.08 1.07 ' +
    '1.09 1.03 1.09 1.06 1.04 .996 .971 .95 .92 .936 .893 .843 .856 .856 .798 .845 .847 .773 .764 ' +
    '.822 .749 .731 .715 .702 .651 .684 .707 .608 .626 .636 .627',
  'actor/ppo_kl':
    '.000326 .00072 .0061 .00367 -.000497 .00308 -.000165 .00301 -.00438 .000801 .00147 .00119 ' +
    '-.00177 -.002 .000122 .000636 .00828 -.000296 -.000534 .00832 .00374 -.000784 -6.01e-05 ' +
    '.00494 .00304 .00078 -.000101 .000916 .0047 .00506 1.17e-05 -.000663 .00069 .000174 .00115 ' +
    '.00302 6.91e-05 .002 .00278 -.00242 -.00016 .0102 .00799 .000603 -.00247 .00119 -.00208 ' +
    '-.000877 .00626 -.00218',
  'actor/pg_clipfrac':
    '0 0 .00418 .00418 .0021 .00446 .00418 .00412 .00202 0 .00625 .00202 .00405 .006 0 .00198 ' +
    '.00617 .00412 .00208 .00837 .00407 0 0 .00398 .002 .00417 0 .00617 .00992 .00209 0 .00816 ' +
    '.00202 0 .00403 .00407 0 .00412 .00205 0 0 .0081 .0202 .00413 .0041 .00412 0 0 .0139 0',
  'response_length/mean':
    '3.84 3.79 3.76 3.68 3.77 3.6 3.73 3.77 3.73 3.77 3.84 3.83 3.85 3.87 3.79 3.9 3.74 3.75 3.77 ' +
    '3.7 3.85 3.83 3.8 3.92 3.91 3.81 3.77 3.73 3.89 3.71 3.66 3.8 3.8 3.88 3.83 3.85 3.87 3.84 ' +
    '3.88 3.88 3.89 3.84 3.8 3.84 3.8 3.84 3.84 3.85 3.91 3.89',
  'response/not_ended_ratio':
    '.211 .195 .359 .273 .289 .273 .195 .211 .305 .234 .219 .305 .352 .344 .258 .281 .195 .188 ' +
    '.188 .141 .195 .25 .18 .305 .273 .172 .156 .125 .164 .109 .117 .109 .109 .117 .133 .133 .117 ' +
    '.133 .164 .164 .0859 .0938 .0938 .0859 .102 .141 .0547 .0859 .0703 .0703',
}
const HEALTHY_ACCURACY: readonly (readonly [number, number])[] = [
  [80, 0.2734],
  [90, 0.3828],
  [100, 0.4531],
  [110, 0.4922],
  [120, 0.5234],
]

test('a healthy run of preset tiny is never found anything wrong with', () => {
  const experiment = presetOf('tiny')?.experiment ?? plain
  const phase_start = 70
  const series = new Map<string, Series>()
  const values = Object.entries(HEALTHY).map(
    ([name, text]) => [name, text.split(' ').map(Number)] as const,
  )
  for (let i = 0; i < 50; i++) {
    const step = phase_start + 1 + i
    const accuracy = HEALTHY_ACCURACY.find(([at]) => at === step)
    appendMetrics(series, step, {
      ...Object.fromEntries(values.map(([name, column]) => [name, column[i]])),
      ...(accuracy && { 'val-core/sort_digits/acc/mean@1': accuracy[1] }),
    })
    expect(diagnose({ experiment, phase: 2, phase_start, series }), `step ${step}`).toEqual([])
  }
})
