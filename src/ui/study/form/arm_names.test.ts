// Arms that are added to a study are called by what tells them apart.
import { expect, test } from 'vitest'
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
  expect(namesOf([low])).toEqual(['BuPO, layer 2 first'])
  expect(namesOf([low, high])).toEqual([
    'BuPO, layer 2 first, lr 3e-4',
    'BuPO, layer 2 first, lr 0.003',
  ])
  expect(namesOf([low, { ...high, name: 'fast' }])).toEqual([
    'BuPO, layer 2 first, lr 3e-4',
    'fast',
  ])
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

test('ticked runs are an arm for each setting, not for each seed', () => {
  const runs = [
    entryOf('a', { seed: 1, lr: 0.001 }, UNNAMED),
    entryOf('b', { seed: 2, lr: 0.001 }, UNNAMED),
    entryOf('c', { seed: 1, lr: 0.01 }, UNNAMED),
  ]
  expect(namesOf(armsOfRuns(runs))).toEqual([
    'BuPO, layer 2 first, lr 0.001',
    'BuPO, layer 2 first, lr 0.01',
  ])
  const named = [entryOf('a', { seed: 1, lr: 0.001 }, { name: 'mine' }), ...runs.slice(1)]
  expect(namesOf(armsOfRuns(named))[0]).toBe('mine')
})
