import { expect, test } from 'vitest'
import type { Diagnosis } from '../../record/diagnosis/diagnosis.ts'
import { type Dismissed, eachOnce, shownFindings, withDismissed } from './findings.ts'

const finding = (changes: Partial<Diagnosis> = {}): Diagnosis => ({
  name: 'clip_fraction',
  phase: 1,
  step: 12,
  is_severe: false,
  excess: 0.5,
  title: '',
  evidence: '',
  meaning: '',
  advice: [
    { path: 'actor.optim.lr', text: '' },
    { path: 'actor.ppo_epochs', text: '' },
  ],
  ...changes,
})

const none: Dismissed = new Map()
const names = (found: readonly Diagnosis[], dismissed: Dismissed, run = 3) =>
  shownFindings(found, run, dismissed).map(({ name }) => name)

test('a dismissed finding stays away until it is clearly worse', () => {
  const dismissed = withDismissed(none, 3, finding())
  expect(names([finding()], none)).toEqual(['clip_fraction'])
  expect(names([finding()], dismissed)).toEqual([])
  expect(names([finding({ excess: 0.75 })], dismissed)).toEqual([])
  expect(names([finding({ excess: 0.76 })], dismissed)).toEqual(['clip_fraction'])
  expect(names([finding({ is_severe: true })], dismissed)).toEqual(['clip_fraction'])
})

test('it can be dismissed again, as bad as it has become', () => {
  const worse = finding({ excess: 2, is_severe: true })
  const dismissed = withDismissed(withDismissed(none, 3, finding()), 3, worse)
  expect(names([worse], dismissed)).toEqual([])
  expect(names([finding({ excess: 2.3, is_severe: true })], dismissed)).toEqual(['clip_fraction'])
})

test('what was dismissed in one phase or run says nothing of another, nor of other findings', () => {
  const dismissed = withDismissed(none, 3, finding())
  expect(names([finding({ phase: 2 })], dismissed)).toEqual(['clip_fraction'])
  expect(names([finding()], dismissed, 4)).toEqual(['clip_fraction'])
  expect(names([finding({ name: 'cut_off' })], dismissed)).toEqual(['cut_off'])
})

test('a remedy that two findings have is offered once, with what both say', () => {
  const steps = { path: 'phases.0.steps', text: 'Train longer.' }
  const more = { path: 'rollout.n', text: 'More responses.' }
  const found = [
    finding({ advice: [steps, more] }),
    finding({ advice: [{ ...steps, text: 'So that it ends.' }, more] }),
  ]
  expect(eachOnce(found)).toEqual([
    { path: 'phases.0.steps', text: 'Train longer. So that it ends.' },
    more,
  ])
})
