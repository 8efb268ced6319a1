import { expect, test } from 'vitest'
import { withField } from '../../document/experiment/experiment.ts'
import type { Experiment } from '../../document/experiment/schema/schema.ts'
import type { SteeringEntry } from '../../document/experiment/steering/actions.ts'
import { presetOf } from '../../document/presets/presets.ts'
import { nextStep } from './next_step.ts'

const of = (id: string) => {
  const preset = presetOf(id)
  if (!preset) throw new Error(id)
  return preset.experiment
}
/** A run in which nothing was changed. */
const run = (experiment: Experiment) => ({ document: experiment, experiment })
const next = (experiment: Experiment) => nextStep(run(experiment), takes(60))
const takes = (seconds: number) => () => ({ seconds, isMeasured: true })

test('after a run with an inner phase comes the same run without it, as long in all', () => {
  const before = of('first-steps')
  const step = next(before)
  expect(step?.words).toBe('Train it without the inner phase')
  expect(step?.experiment.phases.map(({ kind }) => kind)).toEqual(['rl'])
  expect(step && stepsOf(step.experiment)).toBe(stepsOf(before))
  expect(step?.experiment.seed).toBe(before.seed)
  expect(step?.says).toBeUndefined()
})

test('of several inner phases it says that all are left out, the inserted one too', () => {
  const document = of('first-steps')
  const [inner, whole] = document.phases
  const phases = [inner, { ...whole, steps: 24 }, { ...inner, steps: 4 }, { ...whole, steps: 17 }]
  const steering = [{ step: 28, kind: 'interrupt_phase', phase: phases[2] }] as const
  const step = nextStep(
    { document: { ...document, steering: [...steering] }, experiment: { ...document, phases } },
    takes(60),
  )
  expect(step?.words).toBe('Train it without the inner phases')
  expect(step?.says).toMatch(/^Every inner phase is left out, one that was inserted by hand too;/)
  expect(step?.experiment.name).toBe('First run, without its inner phases')
  expect(step?.experiment.phases.map(({ steps }) => steps)).toEqual([inner.steps + 24, 4 + 17])
})

const stepsOf = ({ phases }: Experiment) => phases.reduce((sum, { steps }) => sum + steps, 0)
const set = (step: number, path: string, value: number): SteeringEntry => ({
  step,
  kind: 'set',
  path,
  value,
})
function withFields(experiment: Experiment, ...fields: [string, unknown][]): Experiment {
  return fields.reduce((before, [path, value]) => {
    const result = withField(before, path, value)
    if (!result.ok) throw new Error(result.message)
    return result.experiment
  }, experiment)
}
const LR = 'actor.optim.lr'

test('the run without its inner phase begins as the run began, and is changed where that was', () => {
  const began = withFields(of('first-steps'), [LR, 0.006])
  const document = { ...began, steering: [set(13, LR, 0.0005)] }
  const trained = withFields(began, [LR, 0.0005])
  const step = nextStep({ document, experiment: trained }, takes(60))
  expect(step?.experiment.actor.optim.lr).toBe(0.006)
  expect(step?.experiment.steering).toEqual(document.steering)
  expect(step?.says).toContain('changed by hand')
  // Its steps were timed under the rate that the run ended with.
  const timed = ({ actor }: Experiment) =>
    actor.optim.lr === 0.0005 ? { seconds: 5, isMeasured: true } : undefined
  expect(nextStep({ document, experiment: trained }, timed)?.estimate.seconds).toBe(5)
  // All of the preset's name would say that it has an inner layer.
  expect(step?.experiment.name).toBe('First run, without its inner phase')
  const named = nextStep(run(withFields(began, ['name', 'Mine'])), takes(60))
  expect(named?.experiment.name).toBe('Mine, without its inner phase')
})

test('of phases it has the lengths that they came to, and the changes of those that stay', () => {
  const began = of('first-steps')
  const [LENGTH, OF_INNER, OF_ALL] = [
    'phases.1.steps',
    'phases.0.actor.optim.lr',
    'phases.1.actor.optim.lr',
  ]
  const steering = [
    set(2, OF_INNER, 0.004),
    set(3, OF_ALL, 0.003),
    set(6, LENGTH, 14),
    set(9, OF_ALL, 0.001),
  ]
  const experiment = withFields(began, [LENGTH, 14], [OF_ALL, 0.001], [OF_INNER, 0.004])
  const step = nextStep({ document: { ...began, steering }, experiment }, takes(60))
  expect(step && stepsOf(step.experiment)).toBe(stepsOf(experiment))
  // What was set before its phase began holds from the start.
  expect(step?.experiment.steering).toEqual([
    set(0, 'phases.0.actor.optim.lr', 0.003),
    set(9, 'phases.0.actor.optim.lr', 0.001),
  ])
})

test('where a person has changed the list of phases, changes of one of them cannot be followed', () => {
  const began = of('first-steps')
  const repeat: SteeringEntry = { step: 2, kind: 'repeat_phase' }
  const [inner] = began.phases
  const experiment = { ...began, phases: [inner, ...began.phases] }
  const words = (steering: readonly SteeringEntry[]) =>
    nextStep({ document: { ...began, steering }, experiment }, takes(60))
  expect(words([repeat])?.words).toBe('Train it without the inner phases')
  const control = words([repeat])
  expect(control && stepsOf(control.experiment)).toBe(stepsOf(experiment))
  expect(words([repeat, set(9, 'phases.2.actor.optim.lr', 0.001)])?.words).not.toContain(
    'without the inner phase',
  )
})

test('after a run that got worse comes its preset, where something was changed', () => {
  const before = of('first-steps')
  const changed = { ...before, seed: 7, rollout: { ...before.rollout, temperature: 2 } }
  const step = nextStep(run(changed), takes(60), 'first-steps')
  expect(step?.words).toBe('Train it with the preset’s settings')
  expect(step?.experiment).toEqual({ ...before, seed: 7 })
  expect(nextStep(run(before), takes(60), 'first-steps')?.words).toBe(
    'Train it without the inner phase',
  )
})

test('what takes more than two minutes, or nobody knows how long, is not proposed', () => {
  expect(nextStep(run(of('first-steps')), takes(121))).toBeUndefined()
  expect(nextStep(run(of('first-steps')), () => undefined)).toBeUndefined()
})

test('after shipped weights comes a small run from random ones, after random ones a story', () => {
  const shipped = of('countdown-pretrained')
  expect(next(shipped)?.experiment).toBe(of('tiny'))
  expect(next(of('tiny-grpo'))?.experiment).toBe(of('story-ends'))
  const bare = { ...of('tiny'), phases: of('tiny').phases.filter(({ kind }) => kind === 'sft') }
  expect(next(bare)?.words).toBe('Teach a storyteller happy ends')
  expect(next({ ...of('tiny'), seed: 7 })?.words).toBe('Train it without the inner phase')
})

test('after a story comes another one that is short enough, never the one that was just trained', () => {
  const ends = of('story-ends')
  expect(next({ ...ends, seed: 7 })?.experiment).toBe(of('story-animals'))
  expect(next(of('story-animals'))?.experiment).toBe(ends)
  const onlyLoop = (experiment: Experiment) => ({
    seconds: experiment === of('story-warm-words') ? 60 : 600,
    isMeasured: true,
  })
  expect(nextStep(run(ends), onlyLoop)?.experiment).toBe(of('story-warm-words'))
  expect(nextStep(run(ends), takes(121))).toBeUndefined()
})
