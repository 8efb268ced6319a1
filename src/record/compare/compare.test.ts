import { expect, test } from 'vitest'
import { TINY } from '../../page/runs/testing.ts'
import { entryOf } from '../../ui/runs/table/testing.ts'
import type { RunSource } from '../run/record.ts'
import { bySettings, differences, pairedBySeed } from './compare.ts'

const { experiment } = TINY
const headed = (id: string, document: typeof experiment, source?: RunSource) => ({
  header: { ...entryOf(id, {}).header, id, document, source },
})
const idsOf = (runs: readonly ReturnType<typeof headed>[]) =>
  bySettings(runs).map((group) => group.map(({ header }) => header.id))
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
  const shorter = { ...experiment, phases: experiment.phases.slice(0, -1) }
  const found = differences([experiment, shorter])
  // A phase of one of them alone is one row, and not a row for each of its fields.
  expect(found).toEqual([{ path: 'phases.2', values: ['GRPO, whole model, 50 steps', undefined] }])
  const steered = { ...experiment, steering: [{ step: 3, kind: 'next_phase' as const }] }
  expect(differences([experiment, steered])).toEqual([
    { path: 'steering.3.next_phase', values: [undefined, 'next phase'] },
  ])
  // Another thing after another step is no other value of it.
  const set = { step: 19, kind: 'set' as const, path: 'actor.optim.lr', value: 0.003 }
  expect(differences([steered, { ...experiment, steering: [set] }])).toEqual([
    { path: 'steering.3.next_phase', values: ['next phase', undefined] },
    { path: 'steering.19.set.actor.optim.lr', values: [undefined, 'lr 0.003'] },
  ])
})

test('runs that differ only in seed, name and kernels are one group', () => {
  const runs = [
    headed('1', experiment),
    headed('2', lr),
    headed('3', { ...experiment, seed: 9, name: 'x', kernels: 'default' }),
  ]
  expect(idsOf(runs)).toEqual([['1', '3'], ['2']])
})

test('imported runs are seeds of one setting where they say so, and else each alone', () => {
  const imported = (id: string, setting?: string) =>
    headed(id, experiment, {
      kind: 'wandb',
      file: id,
      remarks: [],
      ...(setting !== undefined && { setting }),
    })
  // All of them hold the same defaults, and one of the lab's own does too.
  const runs = [
    headed('own', experiment),
    imported('a', 'grpo'),
    imported('b'),
    imported('c', 'grpo'),
    imported('d'),
  ]
  expect(idsOf(runs)).toEqual([['own'], ['a', 'c'], ['b'], ['d']])
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
  const { pairs, spread } = pairedBySeed(a, b)
  expect(pairs).toEqual([
    { seed: 1, difference: 1 },
    { seed: 2, difference: 3 },
  ])
  expect(spread).toEqual({ n: 2, mean: 2, lowest: 1, highest: 3 })
  expect(pairedBySeed(a.slice(0, 1), b).spread).toBeUndefined()
})
