// Names of a list of runs: each its own, with what tells them apart beside it.
import { expect, test } from 'vitest'
import { runName } from '../../../record/run/names.ts'
import { entryOf } from '../table/testing.ts'
import { comparedGroups } from './compared.ts'
import { distinctNames, shortNames, unsaidWords } from './distinct_names.ts'
import { FIRST_VIEW, tableRows } from './table.ts'

const UNNAMED = { name: '' }
/** More than a name says. */
const WIDE = { train_batch_size: 8, n: 16, temperature: 0.75, top_p: 0.95 }
const withRollout = (entry: ReturnType<typeof entryOf>, changed: Partial<typeof WIDE>) => {
  const { document } = entry.header
  const own = { ...document, rollout: { ...document.rollout, ...changed } }
  return { ...entry, header: { ...entry.header, document: own, experiment: own } }
}
const withPrompts = (entry: ReturnType<typeof entryOf>) =>
  withRollout(entry, { train_batch_size: 8 })
const RUNS = [
  withPrompts(entryOf('a', { seed: 1, lr: 0.001 }, UNNAMED)),
  withPrompts(entryOf('b', { seed: 2, lr: 0.001 }, UNNAMED)),
  withPrompts(entryOf('c', { seed: 1, lr: 0.01 }, UNNAMED)),
  withPrompts(entryOf('d', { seed: 2, lr: 0.01 }, { name: 'the fast one' })),
]

test('a run keeps its name in a list, and what tells it apart stands beside it', () => {
  const wide = withRollout(entryOf('e', { seed: 1, lr: 0.01 }, UNNAMED), WIDE)
  const other = withRollout(entryOf('f', { seed: 1, lr: 0.01 }, UNNAMED), { ...WIDE, top_p: 0.9 })
  const list = [...RUNS, wide, other]
  const rows = tableRows(list, FIRST_VIEW)
  const rowOf = (run: (typeof RUNS)[number]) => rows.find(({ entry }) => entry === run)
  for (const run of list) {
    // Of those that are called alike, the later ones have a number.
    const alike = list.filter(
      (one) =>
        runName(one).name === runName(run).name && one.header.started_at < run.header.started_at,
    )
    const number = alike.length > 0 ? ` #${alike.length + 1}` : ''
    expect(rowOf(run)?.name).toBe(`${runName(run).name}${number}`)
    expect(tableRows([run], FIRST_VIEW)[0]).toMatchObject({ name: runName(run).name, apart: [] })
  }
  const [first, second] = RUNS
  // The seed of the preset is in no name.
  expect([first, second].map((run) => rowOf(run)?.apart)).toEqual([['seed 1'], []])
  expect(rowOf(other)?.name).toMatch(/ #3$/)
  // A name says two differences, and these are not among them.
  expect(runName(wide).name).toBe(runName(other).name)
  expect(rowOf(wide)?.apart).toContain('top p 0.95')
  expect(rowOf(other)?.apart).toContain('top p 0.9')
})

test('figures tell runs of one name apart by what stands beside it', () => {
  const wide = withRollout(entryOf('e', { seed: 1, lr: 0.01 }, UNNAMED), WIDE)
  const other = withRollout(entryOf('f', { seed: 1, lr: 0.01 }, UNNAMED), { ...WIDE, top_p: 0.9 })
  const names = distinctNames([wide, other])
  expect(names.get('e')?.name).toBe(`${runName(wide).name} (top p 0.95)`)
  expect(names.get('f')?.seedless).toBe(`${runName(other).seedless} (top p 0.9)`)
  expect(distinctNames([wide]).get('e')?.name).toBe(runName(wide).name)
  expect(distinctNames(RUNS).get('d')).toMatchObject({ name: 'the fast one', apart: [] })
})

test('runs that nothing tells apart are numbered as they began, in the table and in figures', () => {
  const again = ['x', 'y', 'z'].map((id) => entryOf(id, {}, { name: 'Mine' }))
  const names = (list: readonly (typeof again)[number][]) =>
    list.map(({ id }) => distinctNames(list).get(id))
  expect(names(again.toReversed()).map((one) => one?.own)).toEqual(['Mine #3', 'Mine #2', 'Mine'])
  expect(names(again).map((one) => one?.name)).toEqual(['Mine', 'Mine #2', 'Mine #3'])
})

test('a line of several seeds is called without them', () => {
  const ticked = RUNS.map(({ id }) => id)
  const selection = { ticked, band: 'range', isBehind: false, view: FIRST_VIEW } as const
  const groups = comparedGroups(RUNS, selection)
  expect(groups[0].label).toBe(runName(RUNS[0]).seedless)
  expect(groups[0].entries.map(({ labels }) => labels.name)).toEqual(
    RUNS.slice(0, 2).map((run) => runName(run).name),
  )
})

test('beside a name no word of it is said again', () => {
  const name = 'BuPO, layer 2 first, seed 1'
  expect(unsaidWords('Two-skills addition, BuPO', name)).toBe('Two-skills addition')
  expect(unsaidWords('Tiny: GRPO, as many rollouts', 'GRPO, seed 1')).toBe('Tiny, as many rollouts')
  expect(unsaidWords('Tiny: sort three digits', name)).toBe('Tiny: sort three digits')
  expect(unsaidWords('BuPO', name)).toBe('')
})

test('at the ends of lines a name leaves out what all of them say', () => {
  const said = 'BuPO (REINFORCE++), layer 2 first'
  expect(shortNames([said, `${said}, lr 0.005`, `${said}, lr 5e-4, seed 2`])).toEqual([
    'BuPO (REINFORCE++)',
    'lr 0.005',
    'lr 5e-4, seed 2',
  ])
  expect(shortNames(['a', 'a'])).toEqual(['a', 'a'])
  expect(shortNames([said])).toEqual([said])
})
