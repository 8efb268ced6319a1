import { expect, test } from 'vitest'
import { steerExperiment, withField } from '../../document/experiment/experiment.ts'
import { presetOf } from '../../document/presets/presets.ts'
import { lowerRates } from './lower_rate.ts'

const preset = (id: string) => {
  const found = presetOf(id)
  if (!found) throw new Error(id)
  return found.experiment
}

test('the rate that the phase trains with is halved, where it is written', () => {
  const tiny = preset('tiny')
  const rates = (phase: number, of = tiny) =>
    lowerRates(of, phase).map(({ action: { path, value }, from }) => [path, value, from])
  const sft = tiny.phases.findIndex(({ kind }) => kind === 'sft')
  const rl = tiny.phases.findIndex(({ kind }) => kind === 'rl')
  expect(rates(sft)).toEqual([[`phases.${sft}.optim.lr`, 0.0015, 0.003]])
  const { lr } = tiny.actor.optim
  expect(rates(rl)).toEqual([['actor.optim.lr', lr / 2, lr]])
  const own = withField(tiny, `phases.${rl}.actor.optim.lr`, 4e-4)
  if (!own.ok) throw new Error(own.message)
  expect(rates(rl, own.experiment)).toEqual([[`phases.${rl}.actor.optim.lr`, 2e-4, 4e-4]])
  expect(rates(99)).toEqual([])
})

test('with a critic both rates are halved, and the run can be steered so', () => {
  const ppo = preset('tiny-ppo')
  const rl = ppo.phases.findIndex(({ kind }) => kind === 'rl')
  const rates = lowerRates(ppo, rl)
  expect(rates.map(({ action }) => action.path.replace(/^phases\.\d+\./, ''))).toEqual([
    'actor.optim.lr',
    'critic.optim.lr',
  ])
  for (const { action } of rates) expect(steerExperiment(ppo, action, rl, 1).ok).toBe(true)
})
