// Names of a list of runs: short, and different where the runs are.
import { expect, test } from 'vitest'
import { runName } from '../../../record/run/names.ts'
import { distinctNames, unsaidWords } from '../../open/distinct_names.ts'
import { entryOf } from '../table/testing.ts'
import { comparedGroups } from './compared.ts'
import { FIRST_VIEW } from './table.ts'

const UNNAMED = { name: '' }
const PROMPTS = { train_batch_size: 8 }
const withPrompts = (entry: ReturnType<typeof entryOf>) => {
  const { document } = entry.header
  const own = { ...document, rollout: { ...document.rollout, ...PROMPTS } }
  return { ...entry, header: { ...entry.header, document: own, experiment: own } }
}
const RUNS = [
  withPrompts(entryOf('a', { seed: 1, lr: 0.001 }, UNNAMED)),
  withPrompts(entryOf('b', { seed: 2, lr: 0.001 }, UNNAMED)),
  withPrompts(entryOf('c', { seed: 1, lr: 0.01 }, UNNAMED)),
  withPrompts(entryOf('d', { seed: 2, lr: 0.01 }, { name: 'the fast one' })),
]

test('what all runs of a method have is beside their names, and every seed in them', () => {
  const names = distinctNames(RUNS)
  expect(['a', 'b', 'c', 'd'].map((id) => names.get(id)?.name)).toEqual([
    'BuPO, layer 2 first, seed 1',
    'BuPO, layer 2 first, seed 2',
    'BuPO, layer 2 first, lr 0.01, seed 1',
    'the fast one',
  ])
  expect(names.get('a')?.shared).toEqual(['8 prompts per step'])
  // Alone it is called as everywhere else.
  const [alone] = RUNS
  expect(distinctNames([alone]).get('a')?.name).toBe(runName(alone).name)
  expect(runName(alone).name).toContain('8 prompts per step')
})

test('a line is called as the table calls its runs, without what tells its seeds apart', () => {
  const ticked = RUNS.map(({ id }) => id)
  const selection = { ticked, band: 'range', isBehind: false, view: FIRST_VIEW } as const
  const groups = comparedGroups(RUNS, selection)
  expect(groups[0].label).toBe('BuPO, layer 2 first')
  expect(groups[0].entries.map((entry) => runName(entry).name)).toEqual([
    'BuPO, layer 2 first, seed 1',
    'BuPO, layer 2 first, seed 2',
  ])
})

test('what fewest runs of a list have comes first in a name, which may be cut', () => {
  const names = distinctNames([...RUNS, entryOf('e', { seed: 1 }, UNNAMED)])
  expect(names.get('c')?.name).toBe('BuPO, layer 2 first, lr 0.01, 8 prompts per step, seed 1')
})

test('a name that would not fit into its two lines says less of the settings, and its seed', () => {
  const wide = entryOf('f', { seed: 1, lr: 0.01 }, UNNAMED)
  const { document } = wide.header
  const { rollout } = document
  const own = { ...document, rollout: { ...rollout, n: 16, temperature: 0.75, top_p: 0.95 } }
  const header = { ...wide.header, document: own, experiment: own }
  const name = distinctNames([...RUNS, { ...wide, header }]).get('f')?.name ?? ''
  expect(name.length).toBeLessThanOrEqual(64)
  expect(name).toMatch(/^BuPO, layer 2 first, .*, \d more, seed 1$/)
})

test('beside a name no word of it is said again', () => {
  const name = 'BuPO, layer 2 first, seed 1'
  expect(unsaidWords('Two-skills addition, BuPO', name)).toBe('Two-skills addition')
  expect(unsaidWords('Tiny: GRPO, as many rollouts', 'GRPO, seed 1')).toBe('Tiny, as many rollouts')
  expect(unsaidWords('Tiny: sort three digits', name)).toBe('Tiny: sort three digits')
  expect(unsaidWords('BuPO', name)).toBe('')
})
