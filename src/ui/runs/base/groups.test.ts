import { expect, test } from 'vitest'
import { TINY } from '../../../page/runs/testing.ts'
import { extendSummary } from '../../../record/run/summary.ts'
import { entryOf } from '../table/testing.ts'
import { cellText, columnGroups, columnLabel } from './columns.ts'
import { comparedGroups } from './compared.ts'
import { type Filter, filterWords, holds } from './filters.ts'
import { BY_SETTINGS, rowGroups } from './groups.ts'
import { FIRST_VIEW, type TableView, tableRows } from './table.ts'

const LR = 'setting:actor.optim.lr'
/** Two learning rates, two seeds of each. */
const RUNS = [
  entryOf('a', { seed: 1, lr: 0.001, greedy: 0.5 }, { tags: ['paper', 'slow'] }),
  entryOf('b', { seed: 2, lr: 0.001, greedy: 0.7 }, { tags: ['paper'] }),
  entryOf('c', { seed: 1, lr: 0.01, greedy: 0.2 }),
  entryOf('d', { seed: 2, lr: 0.01 }),
]
const idsOf = (change: Partial<TableView>) =>
  tableRows(RUNS, { ...FIRST_VIEW, sort: 'name', isDescending: false, ...change })
    .map(({ entry: { id } }) => id)
    .join('')
const filter = (column: string, operator: Filter['operator'], value: string): Filter => ({
  column,
  operator,
  value,
})

test('columns show settings, metrics and facts, and a run without one sorts last', () => {
  const columns = [LR, 'metric:greedy', 'fact:tags']
  const rows = tableRows(RUNS, { ...FIRST_VIEW, columns, sort: 'name', isDescending: false })
  const texts = rows.map(({ cells, entry }) =>
    cells.map((cell, i) => cellText(cell, columns[i], entry)),
  )
  expect(texts).toEqual([
    ['0.001', '50.0\u00a0%', 'paper, slow'],
    ['0.001', '70.0\u00a0%', 'paper'],
    ['0.01', '20.0\u00a0%', '–'],
    ['0.01', '–', '–'],
  ])
  expect(idsOf({ columns, sort: 'metric:greedy', isDescending: true })).toBe('bacd')
  expect(idsOf({ columns, sort: 'metric:greedy' })).toBe('cabd')
})

test('a row is made again only for a run that changed, or for other columns', () => {
  const before = tableRows(RUNS, FIRST_VIEW)
  const changed = RUNS.map((run) => (run.id === 'b' ? { ...run } : run))
  const after = tableRows(changed, { ...FIRST_VIEW, search: '' })
  expect(after.filter((row) => !before.includes(row)).map(({ entry: { id } }) => id)).toEqual(['b'])
  expect(tableRows(RUNS, { ...FIRST_VIEW, columns: [LR] })[0]).not.toBe(before[0])
})

test('filters compare numbers as numbers, tags one by one, and all have to hold', () => {
  expect(idsOf({ filters: [filter('fact:tags', 'is', 'Paper')] })).toBe('ab')
  expect(idsOf({ filters: [filter('fact:tags', 'is not', 'slow')] })).toBe('bcd')
  expect(idsOf({ filters: [filter(LR, 'is', '1e-3')] })).toBe('ab')
  expect(idsOf({ filters: [filter('metric:greedy', 'at least', '50 %')] })).toBe('ab')
  const both = [filter(LR, 'at most', '0.005'), filter('metric:greedy', 'at most', '0.6')]
  expect(idsOf({ filters: both })).toBe('a')
  expect(holds(RUNS[3], filter('metric:greedy', 'at most', '1'), FIRST_VIEW)).toBe(false)
  expect(filterWords(filter(LR, 'at least', '0.1'))).toBe('lr at least 0.1')
})

test('groups have their runs and the mean of their numbers', () => {
  const view = { ...FIRST_VIEW, columns: ['metric:greedy', LR], group: BY_SETTINGS }
  const groups = rowGroups(tableRows(RUNS, view), view) ?? []
  expect(groups.map(({ rows }) => rows.map(({ entry }) => entry.id).join(''))).toEqual(['dc', 'ba'])
  expect(groups[1].value?.mean).toBeCloseTo(0.6, 12)
  expect(groups[1].columns[0]?.n).toBe(2)
  // A setting has no mean, and one number says nothing about its spread.
  expect(groups[1].columns[1]).toBeUndefined()
  expect(groups[0].value).toMatchObject({ n: 1, mean: 0.2, spread: undefined })
  expect(groups[1].value?.spread).toMatchObject({ n: 2, lowest: 0.5 })
  expect(groups.map(({ isAlone }) => isAlone)).toEqual([false, false])
  const alone = rowGroups(tableRows(RUNS.slice(0, 1), view), view)
  expect(alone?.map(({ isAlone }) => isAlone)).toEqual([true])
  const byTag = { ...FIRST_VIEW, group: 'fact:tags' }
  expect(rowGroups(tableRows(RUNS, byTag), byTag)?.map(({ label }) => label)).toEqual([
    'tags: –',
    'tags: paper',
    'tags: paper, slow',
  ])
  expect(rowGroups(tableRows(RUNS, FIRST_VIEW), FIRST_VIEW)).toBeUndefined()
})

test('a seed that was trained twice counts once in a mean, and both runs stay in the table', () => {
  const view = { ...FIRST_VIEW, group: BY_SETTINGS }
  const shorter = entryOf('e', { seed: 1, lr: 0.001, greedy: 0.1 })
  const twice = [...RUNS, { ...shorter, header: { ...shorter.header, step: 4 } }]
  const groups = rowGroups(tableRows(twice, view), view) ?? []
  expect(groups[0].rows.map(({ entry }) => entry.id).join('')).toBe('eba')
  expect(groups[0].value).toMatchObject({ n: 2 })
  expect(groups[0].value?.mean).toBeCloseTo(0.6, 12)
  const selection = {
    ticked: twice.map(({ id }) => id),
    band: 't95',
    isBehind: false,
    view,
  } as const
  const [first] = comparedGroups(twice, selection)
  expect(first.entries.map(({ id }) => id)).toEqual(['a', 'b'])
  // It keeps the colour of its line.
  expect(first.again.map(({ id, labels }) => [id, labels.color])).toEqual([
    ['e', first.entries[0].labels.color],
  ])
})

test('a run that still trains enters no mean of its group', () => {
  const view = { ...FIRST_VIEW, group: BY_SETTINGS }
  const half = entryOf('f', { seed: 9, lr: 0.001, greedy: 0.1 })
  const running = { ...half, header: { ...half.header, status: 'running', step: 2 } as const }
  const [group] = rowGroups(tableRows([...RUNS, running], view), view) ?? []
  expect(group.rows.map(({ entry }) => entry.id)).toContain('f')
  expect(group.value).toMatchObject({ n: 2 })
})

test('settings that differ are offered first, and two that end alike are told apart', () => {
  const groups = columnGroups(RUNS)
  const differing = groups.find(({ name }) => name === 'Settings that differ')
  expect(differing?.columns).toEqual([LR, 'setting:seed'])
  const other = 'setting:critic.optim.lr'
  expect(columnLabel(LR, [LR, 'setting:seed'])).toBe('lr')
  expect([LR, other].map((column) => columnLabel(column, [LR, other]))).toEqual(['lr', 'critic lr'])
  expect(TINY.experiment.actor.optim.lr).toBe(0.001)
})

test('groups of a number are in its order, and its rate is written as in names', () => {
  const rates = [0.0005, 0.005, 0.0015].map((lr, i) => entryOf('xyz'[i], { lr }))
  const view = { ...FIRST_VIEW, group: LR, sort: 'name', isDescending: false }
  const groups = rowGroups(tableRows(rates, view), view) ?? []
  expect(groups.map(({ label }) => label)).toEqual(['lr: 0.0005', 'lr: 0.0015', 'lr: 0.005'])
})

test('runs of which nobody knows that they measure the same have no mean', () => {
  const view = { ...FIRST_VIEW, group: 'fact:tags' }
  const meanOf = (runs: typeof RUNS) => rowGroups(tableRows(runs, view), view)?.[0].value
  const logs = [0.9, 0.4].map((greedy, i) => {
    const entry = entryOf('xy'[i], { seed: i })
    const source = { kind: 'verl', file: `log ${i}`, remarks: [] }
    const summaries = { 'val-core/gsm8k/reward/mean@1': extendSummary(undefined, [greedy]) }
    return { ...entry, header: { ...entry.header, source, summaries } }
  })
  expect(meanOf(logs)).toMatchObject({ n: 2, why: 'different measures' })
  const [one, two] = [entryOf('a', { greedy: 0.5 }), entryOf('b', { greedy: 0.7 })]
  expect(meanOf([one, two])).toMatchObject({ n: 2, why: '' })
  const { task } = two.header.document
  const document = { ...two.header.document, task: { ...task, id: 'addition' } }
  const other = { ...two, header: { ...two.header, document } } as typeof two
  expect(meanOf([one, other])).toMatchObject({ why: 'different tasks' })
})
