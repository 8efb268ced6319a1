import { expect, test } from 'vitest'
import { parseExperiment } from '../../document/experiment/experiment.ts'
import type { Experiment } from '../../document/experiment/schema/schema.ts'
import { DiagnosisRecord, diagnose, isWorse } from './diagnosis.ts'
import {
  experimentOf,
  fall,
  fill,
  find,
  gae,
  INFORMATIVE,
  type Made,
  named,
  plain,
  SCORE,
  START,
  view,
  withValidation,
} from './testing.ts'

test('held-out answers of another temperature are not compared with those of training', () => {
  const trained = { [SCORE]: fill(20, 0.5) }
  const accuracy = [
    [10, 0.1],
    [20, 0.1],
  ] as const
  const at = (temperature: number | null) => {
    const validation = { ...plain.validation, temperature }
    return withValidation(trained, accuracy, { ...plain, validation })
  }
  expect(at(null)?.name).toBe('held_out_gap')
  expect(at(1)?.name).toBe('held_out_gap')
  expect(at(2)).toBeUndefined()
})

test('a score that falls is no gap: evaluations are compared with the steps around them', () => {
  const score = Array.from({ length: 30 }, (_, i) => 0.9 - 0.03 * i)
  const accuracy = [10, 20, 30].map((step) => [step, score[step - 1]] as const)
  expect(withValidation({ [SCORE]: score }, accuracy)).toBeUndefined()
})

test('where nothing is right yet a warm start comes before longer responses', () => {
  const cut = (score: number) => {
    const metrics = { 'response/not_ended_ratio': fill(5, 0.9), [SCORE]: fill(5, score) }
    return named('cut_off', metrics)?.advice.map(({ path }) => path)
  }
  expect(cut(0.1)).toEqual(['rollout.max_response_length', 'phases.0.steps'])
  expect(cut(0)).toEqual(['phases.0.steps', 'rollout.max_response_length'])
})

test('fewer steps than the window are no diagnosis', () => {
  expect(find({ 'actor/pg_clipfrac': fill(4, 1), [INFORMATIVE]: fill(4, 0) })).toEqual([])
})

test('evidence says the numbers, and the worse half is severe and comes first', () => {
  const found = find({
    'actor/pg_clipfrac': fill(5, 0.3),
    [INFORMATIVE]: fill(5, 0.0125),
    [SCORE]: fill(5, 0.02),
  })
  expect(found.map(({ name, is_severe }) => [name, is_severe])).toEqual([
    ['no_informative_groups', true],
    ['clip_fraction', false],
  ])
  expect(found[0].evidence).toContain('in 1.3 % of the groups')
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
  expect(diagnose({ ...bad, phase: 0, phaseStart: 0 })).toEqual([])
  expect(diagnose({ ...bad, phase: 7 })).toEqual([])
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
