// Arms that are added to a study are called by what tells them apart.
import { expect, test } from 'vitest'
import { withField } from '../../../document/experiment/experiment.ts'
import { EMPTY_DRAFT, readDraft } from '../../../document/study/draft/draft.ts'
import { entryOf } from '../../runs/table/testing.ts'
import { armsOfRuns, namedArms } from './arm_names.ts'

const UNNAMED = { name: '' }
const armOf = (of: Parameters<typeof entryOf>[1], name = '') => ({
  name,
  experiment: entryOf('x', of).header.experiment,
})
const namesOf = (arms: Parameters<typeof namedArms>[0]) => namedArms(arms).map(({ name }) => name)

test('an arm alone is called by its method; beside others each says what differs, the first too', () => {
  const [low, high] = [armOf({ lr: 0.0003, seed: 1 }), armOf({ lr: 0.003, seed: 5 })]
  expect(namesOf([low])).toEqual(['BuPO (GRPO), layer 2 first'])
  expect(namesOf([low, high])).toEqual(['lr 0.0003', 'lr 0.003'])
  expect(namesOf([low, { ...high, name: 'fast' }])).toEqual(['lr 0.0003', 'fast'])
})

test('arms of different methods are called by these alone, as their runs are', () => {
  const [inner, whole] = [armOf({ lr: 0.001 }), armOf({ lr: 0.01 })]
  const phases = whole.experiment.phases.map((phase) => ({ ...phase, target_layer: 'final' }))
  const experiment = { ...whole.experiment, phases } as typeof whole.experiment
  expect(namesOf([inner, { ...whole, experiment }])).toEqual(['BuPO (GRPO), layer 2 first', 'GRPO'])
})

test('what was done to a run by hand is in the phases of its arm, and nothing is left to be done', () => {
  const run = entryOf('a', {})
  const { phases } = run.header.document
  const phase = { ...phases[phases.length - 1], steps: 3 }
  const steering = [{ step: 1, kind: 'append_phase' as const, phase }]
  const document = { ...run.header.document, steering }
  const [{ experiment }] = armsOfRuns([{ ...run, header: { ...run.header, document } }])
  expect(experiment.phases).toHaveLength(phases.length + 1)
  expect(experiment.steering).toEqual([])
})

test('what was set while a run trained is set in its arm too, and its name and the question say so', () => {
  const run = entryOf('a', { lr: 0.005 }, UNNAMED)
  const steering = [{ step: 1, kind: 'set' as const, path: 'actor.optim.lr', value: 0.001 }]
  const { header } = run
  const document = { ...header.document, steering }
  const experiment = withField(header.experiment, 'actor.optim.lr', 0.001)
  if (!experiment.ok) throw new Error(experiment.message)
  const steered = { ...run, header: { ...header, document, experiment: experiment.experiment } }
  const arms = armsOfRuns([steered, entryOf('b', { lr: 0.0015 }, UNNAMED)])
  expect(arms[0].experiment).toMatchObject({ actor: { optim: { lr: 0.005 } }, steering })
  expect(namesOf(arms)[0]).toBe('lr 0.005, lr 0.001 after step 1')
  const made = readDraft({ ...EMPTY_DRAFT, way: 'arms' }, namedArms(arms), header.experiment)
  if (!made.ok) throw new Error(JSON.stringify([...made.problems]))
  expect(made.arms.map((arm) => arm.experiment.steering)).toEqual([steering, []])
  expect(made.study.question).toContain('lr 0.001 after step 1')
})

test('the baseline of the table is that of the study, without one the oldest run', () => {
  const of = (id: string, lr: number, baseline = false) => entryOf(id, { lr }, { baseline })
  const firstOf = (...runs: Parameters<typeof armsOfRuns>[0][number][]) => armsOfRuns(runs)[0].name
  expect(firstOf(of('c', 0.01), of('b', 0.02), of('a', 0.03))).toBe('a')
  expect(firstOf(of('c', 0.01), of('b', 0.02, true), of('a', 0.03))).toBe('b')
})

test('ticked runs are an arm for each setting, not for each seed', () => {
  const runs = [
    entryOf('a', { seed: 1, lr: 0.001 }, UNNAMED),
    entryOf('b', { seed: 2, lr: 0.001 }, UNNAMED),
    entryOf('c', { seed: 1, lr: 0.01 }, UNNAMED),
  ]
  expect(namesOf(armsOfRuns(runs))).toEqual(['lr 0.001', 'lr 0.01'])
  const named = [entryOf('a', { seed: 1, lr: 0.001 }, { name: 'mine' }), ...runs.slice(1)]
  expect(namesOf(armsOfRuns(named))[0]).toBe('mine')
})
