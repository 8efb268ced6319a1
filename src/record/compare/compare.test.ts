import { expect, test } from 'vitest'
import { TINY } from '../../page/runs/testing.ts'
import { bySettings, differences, pairedBySeed } from './compare.ts'

const { experiment } = TINY
const lr = {
  ...experiment,
  actor: { ...experiment.actor, optim: { ...experiment.actor.optim, lr: 0.5 } },
}

test('only fields that differ are told, by their dotted paths', () => {
  expect(differences([experiment, { ...lr, name: 'other' }])).toEqual([
    { path: 'actor.optim.lr', values: ['0.001', '0.5'] },
  ])
  expect(differences([experiment, experiment])).toEqual([])
})

test('what only one document says is absent in the other', () => {
  const shorter = { ...experiment, phases: experiment.phases.slice(0, 1) }
  const found = differences([experiment, shorter])
  expect(found.find(({ path }) => path === 'phases.1.steps')?.values).toEqual(['4', undefined])
  const steered = { ...experiment, steering: [{ step: 3, kind: 'next_phase' as const }] }
  expect(differences([experiment, steered])).toEqual([
    { path: 'steering.0', values: [undefined, 'after step 3: next phase'] },
  ])
})

test('runs that differ only in seed, name and kernels are one group', () => {
  const runs = [
    { id: 1, experiment },
    { id: 2, experiment: lr },
    { id: 3, experiment: { ...experiment, seed: 9, name: 'x', kernels: 'default' } },
  ]
  expect(bySettings(runs).map((group) => group.map(({ id }) => id))).toEqual([[1, 3], [2]])
})

test('differences are paired by seed', () => {
  const a = [
    { seed: 1, value: 1 },
    { seed: 2, value: 2 },
    { seed: 3, value: undefined },
    { seed: 5, value: 0 },
  ]
  const b = [
    { seed: 2, value: 5 },
    { seed: 1, value: 2 },
    { seed: 3, value: 1 },
  ]
  const { pairs, interval } = pairedBySeed(a, b)
  expect(pairs).toEqual([
    { seed: 1, difference: 1 },
    { seed: 2, difference: 3 },
  ])
  // n = 2: mean 2, standard deviation √2, t = 12.7062.
  expect(interval).toEqual({ n: 2, mean: 2, half_width: expect.closeTo(12.7062, 8) })
  expect(pairedBySeed(a.slice(0, 1), b).interval).toBeUndefined()
})
