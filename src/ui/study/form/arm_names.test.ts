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
