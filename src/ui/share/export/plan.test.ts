import { expect, test } from 'vitest'
import { experimentOf, sourceOf } from '../../../jobs/testing.ts'
import { FIRST_PLAN, filesOf, outcomeOf, type Plan, pageWords } from './plan.ts'

test('what a run that is over cannot be is offered by the names of the dialog', () => {
  expect(pageWords('phases: phase 1 is over at this checkpoint; export for verl')).toBe(
    'phases: phase 1 is over at this checkpoint; choose these settings untrained, or verl',
  )
})

test('the folder says for which version of verl it is, and for no other system', () => {
  const experiment = experimentOf({ phases: [{ kind: 'rl', steps: 2 }] })
  const source = { ...sourceOf(experiment), series: undefined, title: 'Mine' }
  const nameOf = (change: Partial<Plan>) => {
    const plan = { ...FIRST_PLAN, ...change }
    return filesOf(source, plan, outcomeOf(source, plan).proposed).name
  }
  expect(nameOf({})).toMatch(/^mine-seed-\d+-verl-0\.9$/)
  expect(nameOf({ verl: '0.7' })).toMatch(/-verl-0\.7$/)
  expect(nameOf({ format: 'hf', verl: '0.7' })).toMatch(/\d-hf$/)
})

test('a refusal calls fields and their values as the form does', () => {
  const refused = (document: object, format: Plan['format']) => {
    const source = { ...sourceOf(experimentOf(document)), series: undefined, title: 'Mine' }
    const outcome = outcomeOf(source, { ...FIRST_PLAN, format })
    return 'refused' in outcome ? outcome.refused : ''
  }
  const rl = { kind: 'rl', steps: 2 }
  expect(refused({ phases: [{ ...rl, adv_estimator: 'gae' }] }, 'trl')).toContain(
    '“Phase 1: Advantage estimator” is GAE (PPO with a critic): expected GRPO, ',
  )
  const dynamic = { phases: [rl], algorithm: { filter_groups: { enable: true } } }
  expect(refused(dynamic, 'trl')).toContain('“Dynamic sampling” is on: TRL has no')
  const pairs = { phases: [{ kind: 'preference', steps: 2, pairs: { source: 'judge' } }] }
  expect(refused(pairs, 'verl')).toMatch(/^Phase 1: verl has no trainer of preferences/)
  expect(refused({ phases: [rl] }, 'bupo')).toMatch(/^Phases: expected an inner phase/)
})
