import { expect, test } from 'vitest'
import { parsed } from '../testing.ts'
import { placeWords, settingLabel, settingWords } from './setting_words.ts'

const experiment = parsed({ phases: [{ kind: 'sft' }, { kind: 'rl' }] })
const said = (path: string, value: number | string) =>
  `${placeWords(path)}${settingWords(experiment, path, value)}`

test('a setting that is called “every” says what comes so often', () => {
  expect(said('validation.test_freq', 16)).toBe('validation every 16 steps')
  expect(said('probe.freq', 4)).toBe('probe every 4 steps')
  expect(said('validation.prompts', 8)).toBe('8 held-out prompts')
  expect(said('critic.optim.lr', 0.001)).toBe('critic lr 0.001')
  expect(said('phases.1.critic.optim.lr', 0.001)).toBe('phase 2: critic lr 0.001')
})

test('a field has one name, also in a phase that is of another kind here or is not there', () => {
  const labels = [0, 1, 2].map((i) => settingLabel(experiment, `phases.${i}.adv_estimator`))
  expect(labels).toEqual(Array(3).fill('advantage estimator'))
})

test('a choice is called as the form calls it, without what that explains', () => {
  expect(said('phases.1.adv_estimator', 'rloo')).toBe('phase 2: advantage estimator RLOO')
  expect(said('phases.1.actor.loss_mode', 'gspo')).toMatch(/ GSPO$/)
  expect(said('phases.1.target_layer', 'final')).toBe('phase 2: layer final')
})
