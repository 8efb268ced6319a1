// Arms that are added to a study are called by what tells them apart.
import { expect, test } from 'vitest'
import { entryOf } from '../../runs/table/testing.ts'
import { armName, armsOfRuns } from './arm_names.ts'

const UNNAMED = { name: '' }
const experimentOf = (of: Parameters<typeof entryOf>[1]) => entryOf('x', of).header.experiment

test('present settings are called by their method, and what they say otherwise than the first', () => {
  const first = experimentOf({ lr: 0.001, seed: 1 })
  expect(armName(first, undefined)).toBe('BuPO, layer 2 first')
  expect(armName(experimentOf({ lr: 0.01, seed: 5 }), first)).toBe('BuPO, layer 2 first, lr 0.01')
})

test('ticked runs are an arm for each setting, not for each seed', () => {
  const runs = [
    entryOf('a', { seed: 1, lr: 0.001 }, UNNAMED),
    entryOf('b', { seed: 2, lr: 0.001 }, UNNAMED),
    entryOf('c', { seed: 1, lr: 0.01 }, UNNAMED),
  ]
  expect(armsOfRuns(runs).map(({ name }) => name)).toEqual([
    'BuPO, layer 2 first',
    'BuPO, layer 2 first, lr 0.01',
  ])
})
