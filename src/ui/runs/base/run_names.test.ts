// Names of a list of runs: each its own, with what tells them apart beside it.
import { expect, test } from 'vitest'
import { runName } from '../../../record/run/names.ts'
import { entryOf } from '../table/testing.ts'
import { comparedGroups } from './compared.ts'
import { comparedNames } from './compared_names.ts'
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
const withSeed = (entry: ReturnType<typeof entryOf>, seed: number) => {
  const own = { ...entry.header.document, seed }
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
  expect([first, second].map((run) => rowOf(run)?.apart)).toEqual([['seed 1'], ['seed 2']])
  expect(rowOf(other)?.name).toMatch(/ #3$/)
  // A name says two differences, and these are not among them.
  expect(runName(wide).name).toBe(runName(other).name)
  expect(rowOf(wide)?.apart).toContain('top p 0.95')
  expect(rowOf(other)?.apart).toContain('top p 0.9')
})

const shown = (list: readonly ReturnType<typeof entryOf>[], all = list) => {
  const names = comparedNames(list, all)
  return list.map(({ id }) => names.get(id)?.name)
}

test('side by side a run says what differs, and nothing that all of them share', () => {
  const wide = withRollout(entryOf('e', { lr: 0.01 }, UNNAMED), WIDE)
  const other = withRollout(entryOf('f', { lr: 0.01 }, UNNAMED), { ...WIDE, top_p: 0.9 })
  // The name of the table says two differences from the preset, and these are not among them.
  expect(runName(wide).name).toBe(runName(other).name)
  expect(shown([wide, other])).toEqual(['top p 0.95', 'top p 0.9'])
  expect(shown(RUNS)).toEqual([
    'lr 0.001, seed 1',
    'lr 0.001, seed 2',
    'lr 0.01, seed 1',
    'the fast one',
  ])
  expect(shown(RUNS.slice(0, 2))).toEqual(['seed 1', 'seed 2'])
  // Alone it is called as in the table.
  expect(shown([RUNS[1]], RUNS)).toEqual([runName(RUNS[1]).name])
})

test('a method is said where it differs', () => {
  const [first, second] = [1, 2].map((i) => entryOf(`m${i}`, { lr: i / 1000 }, UNNAMED))
  const { document } = second.header
  const phases = document.phases.map((phase) => ({ ...phase, target_layer: 'final' }))
  const whole = { ...document, phases } as typeof document
  const grpo = { ...second, header: { ...second.header, document: whole, experiment: whole } }
  expect(shown([first, grpo])).toEqual(['BuPO (GRPO), layer 2 first, lr 0.001', 'GRPO, lr 0.002'])
})

test('among many differences each says what is its own', () => {
  const base = { train_batch_size: 16, n: 4, temperature: 1, top_p: 1 }
  const others = [
    {},
    { train_batch_size: 8 },
    { n: 16 },
    { temperature: 0.75 },
    { top_p: 0.95 },
    { n: 16, top_p: 0.9 },
  ]
  const runs = others.map((own, i) =>
    withRollout(entryOf(`o${i}`, {}, UNNAMED), { ...base, ...own }),
  )
  const [first, ...rest] = shown(runs)
  expect(rest).toEqual([
    '8 prompts per step',
    '16 responses per prompt',
    'temperature 0.75',
    'top p 0.95',
    'top p 0.9, 16 responses per prompt',
  ])
  expect(first).toBe('BuPO (GRPO), layer 2 first')
  // Two that differ in more than a name can say have as much as there is room for.
  const far = shown([runs[0], withRollout(entryOf('far', { lr: 0.01 }, UNNAMED), WIDE)])
  expect(far.every((name) => name?.endsWith(', 2 more'))).toBe(true)
  expect(new Set(far).size).toBe(2)
})

test('runs of one given name are told apart by their settings, and those by nothing are numbered', () => {
  const alike = [0.001, 0.01].map((lr, i) => entryOf(`g${i}`, { lr }, { name: 'Mine' }))
  expect(shown(alike)).toEqual(['lr 0.001', 'lr 0.01'])
  expect(shown([...alike, entryOf('h', { lr: 0.1 }, { name: 'Yours' })])).toEqual([
    'Mine, lr 0.001',
    'Mine, lr 0.01',
    'Yours',
  ])
  const again = ['x', 'y', 'z'].map((id) => entryOf(id, {}, { name: 'Mine' }))
  const owns = (list: typeof again) => list.map(({ id }) => distinctNames(list).get(id)?.own)
  expect(owns(again.toReversed())).toEqual(['Mine #3', 'Mine #2', 'Mine'])
  // As the table numbers them, whichever are ticked.
  expect(shown(again.slice(1), again)).toEqual(['Mine #2', 'Mine #3'])
})

test('a line of several seeds is called without them', () => {
  const ticked = RUNS.map(({ id }) => id)
  const selection = { ticked, band: 'range', isBehind: false, view: FIRST_VIEW } as const
  const groups = comparedGroups(RUNS, selection)
  expect(groups.map(({ label }) => label)).toEqual(['lr 0.001', 'lr 0.01'])
  expect(groups[0].entries.map(({ labels }) => labels.name)).toEqual([
    'lr 0.001, seed 1',
    'lr 0.001, seed 2',
  ])
  // Where every line is one run, its seed is said.
  const [first, , third] = RUNS
  const far = withSeed(third, 7)
  const two = comparedGroups([first, far], { ...selection, ticked: ['a', 'c'] })
  expect(two.map(({ label }) => label)).toEqual(['lr 0.001, seed 1', 'lr 0.01, seed 7'])
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
