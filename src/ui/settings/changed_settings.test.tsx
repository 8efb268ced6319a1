// The list of changed settings, and refusals in the form's words.
import { renderToStaticMarkup } from 'react-dom/server'
import { expect, test } from 'vitest'
import { withField } from '../../document/experiment/experiment.ts'
import type { Experiment } from '../../document/experiment/schema/schema.ts'
import { PRESETS } from '../../document/presets/presets.ts'
import { translateWith } from '../kit/translator.ts'
import { allTexts } from '../language/testing.ts'
import { labelled } from '../shown/names/labelled.ts'
import { withEstimator } from './Algorithm.tsx'
import { ChangedSettings } from './ChangedSettings.tsx'
import { changedParts, countChanged, ownValues, shownFields } from './form.ts'

const [preset] = PRESETS

function changed(experiment: Experiment, path: string, value: unknown): Experiment {
  const result = withField(experiment, path, value)
  if (!result.ok) throw new Error(result.message)
  return result.experiment
}

const listOf = (experiment: Experiment) =>
  renderToStaticMarkup(
    <ChangedSettings
      fields={shownFields(experiment)}
      original={ownValues(preset.experiment)}
      preset={preset}
      parts={changedParts(experiment, preset.experiment)}
    />,
  )

test('each changed setting is listed with its value and the preset’s, and its own way back', () => {
  expect(preset.experiment.actor.optim.lr).toBe(0.0001)
  const once = changed(preset.experiment, 'actor.optim.lr', 0.005)
  const page = listOf(changed(once, 'rollout.temperature', 0.5))
  expect(page.match(/data-testid="changed-setting"/g)).toHaveLength(2)
  expect(page).toContain('>Learning rate</button>')
  expect(page).toContain('<b>0.005</b> <small class="soft">preset: 0.0001</small>')
  expect(page).toContain('aria-label="Put Learning rate back"')
  expect(page).toContain('Put all back to the preset')
  expect(listOf(preset.experiment)).not.toContain('changed-setting"')
})

test('a reward of its own is a change, and so are tools and other phases', () => {
  const { experiment } = preset
  const parts = (of: Experiment) => changedParts(of, experiment)
  expect(parts(experiment)).toEqual([])
  const reward = { parts: [{ id: 'length', weight: 1 }] } as unknown as Experiment['reward']
  const other = { ...experiment, reward, phases: experiment.phases.slice(1) }
  expect(parts(other)).toEqual(['phases', 'reward'])
  expect(listOf(other)).toContain('The reward is not that of the preset.')
  expect(parts({ ...experiment, actor: { ...experiment.actor, clip_ratio_c: 4 } })).toEqual([])
})

test('a phase that is left out is one change: the others are compared with what they are', () => {
  for (const { experiment } of PRESETS.filter(({ experiment: { phases } }) => phases.length > 2)) {
    const phases = experiment.phases.toSpliced(1, 1)
    const of = { ...experiment, phases }
    const count = countChanged(shownFields(of), ownValues(experiment, of))
    expect(count + changedParts(of, experiment).length).toBe(1)
  }
})

test('an algorithm that was chosen for all phases is one change, and one of a single phase is too', () => {
  const [first] = PRESETS.filter(({ id }) => id === 'first-steps')
  const { experiment } = first
  const original = ownValues(experiment)
  const count = (of: Experiment) => countChanged(shownFields(of), original)
  const all = changed(experiment, 'phases', withEstimator(experiment, 'rloo'))
  expect(experiment.phases.filter(({ kind }) => kind === 'rl')).toHaveLength(2)
  expect(count(all)).toBe(1)
  const page = renderToStaticMarkup(
    <ChangedSettings {...{ original, preset: first, parts: [], fields: shownFields(all) }} />,
  )
  expect(page.match(/data-testid="changed-setting"/g)).toHaveLength(1)
  expect(page).toContain('>Algorithm</button>')
  expect(page).toContain('<b>RLOO</b>')
  expect(count(changed(experiment, 'phases.1.adv_estimator', 'rloo'))).toBe(1)
  expect(count(changed(all, 'phases.1.adv_estimator', 'grpo'))).toBe(2)
})

test('a refusal names fields as the form does', () => {
  const fields = shownFields(preset.experiment)
  const refused = withField(preset.experiment, 'actor.optim.lr', 999)
  const message = labelled(refused.ok ? '' : refused.message, fields)
  expect(message).toMatch(/^Learning rate: /)
  expect(message).not.toContain('actor.optim.lr')
  expect(labelled('phases.0.steps: expected a whole number', fields)).toBe(
    'Phase 1: Steps: expected a whole number',
  )
  expect(labelled('0.5 is no whole number; see nowhere.at_all', fields)).toBe(
    '0.5 is no whole number; see nowhere.at_all',
  )
})

test('in Chinese a refusal has the names of fields in Chinese, wherever they stand', () => {
  const texts = allTexts()
  translateWith({
    locale: 'zh-CN',
    text: (english) => texts.translate(english),
    props: (_, props) => props,
  })
  const fields = shownFields(preset.experiment)
  const left = fields.flatMap(({ path }) => {
    const said = labelled(`${path}: expected less than ${path.includes('.') ? path : 2}`, fields)
    return /\p{Script=Han} \p{Script=Han}/u.test(said) || said.includes(path) ? [said] : []
  })
  expect(left).toEqual([])
  expect(
    labelled(
      'actor.ppo_mini_batch_size: expected a divisor of rollout.train_batch_size (3), because every mini-batch has the same size; got 32',
      fields,
    ),
  ).toBe('小批次：应能整除每步的提示数（3），因为各小批次大小相同；实际为 32')
  translateWith(undefined)
})

test('a choice in a refusal has its name', () => {
  const fields = shownFields(preset.experiment)
  const choices = fields.flatMap(({ path, options = [] }) =>
    options
      .filter(({ value }) => /^[\w.-]+$/.test(`${value}`))
      .map(({ value, label }) => [labelled(`${path}: expected '${value}'`, fields), label]),
  )
  expect(choices.length).toBeGreaterThan(20)
  expect(choices.filter(([said, label]) => !said.endsWith(`: expected “${label}”`))).toEqual([])
})
