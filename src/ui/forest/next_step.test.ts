import { expect, test } from 'vitest'
import { presetOf } from '../../document/presets/presets.ts'
import { nextStep } from './next_step.ts'

const of = (id: string) => {
  const preset = presetOf(id)
  if (!preset) throw new Error(id)
  return preset.experiment
}
const takes = (seconds: number) => () => ({ seconds, isMeasured: true })

test('after a run with an inner phase comes the same run without it, as long in all', () => {
  const run = of('first-steps')
  const next = nextStep(run, takes(60))
  expect(next?.words).toBe('Train it without the inner phase')
  expect(next?.experiment.phases.map(({ kind }) => kind)).toEqual(['rl'])
  const steps = ({ phases }: typeof run) => phases.reduce((sum, phase) => sum + phase.steps, 0)
  expect(next && steps(next.experiment)).toBe(steps(run))
  expect(next?.experiment.seed).toBe(run.seed)
})

test('after a run that got worse comes its preset, where something was changed', () => {
  const run = of('first-steps')
  const changed = { ...run, seed: 7, rollout: { ...run.rollout, temperature: 2 } }
  const next = nextStep(changed, takes(60), 'first-steps')
  expect(next?.words).toBe('Train it with the preset’s settings')
  expect(next?.experiment).toEqual({ ...run, seed: 7 })
  expect(nextStep(run, takes(60), 'first-steps')?.words).toBe('Train it without the inner phase')
})

test('what takes more than two minutes, or nobody knows how long, is not proposed', () => {
  expect(nextStep(of('first-steps'), takes(121))).toBeUndefined()
  expect(nextStep(of('first-steps'), () => undefined)).toBeUndefined()
})

test('after a run without an inner phase comes a small run from random weights, and after that none', () => {
  expect(nextStep(of('tiny-grpo'), takes(60))?.experiment).toBe(of('tiny'))
  const bare = { ...of('tiny'), phases: of('tiny').phases.filter(({ kind }) => kind === 'sft') }
  expect(nextStep(bare, takes(60))?.experiment).toBe(of('tiny'))
  expect(nextStep({ ...of('tiny'), seed: 7 }, takes(60))?.words).toBe(
    'Train it without the inner phase',
  )
})
