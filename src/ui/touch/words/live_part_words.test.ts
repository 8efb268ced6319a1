import { expect, test } from 'vitest'
import type { PartCost, PartCosts } from '../../../host/protocol/touch.ts'
import { partGroups, partLines, partStepsTable } from './live_part_words.ts'
import { measuresOf, partName } from './part_words.ts'

const SURE = 0.05
const LOOK = { color: 'red', dash: [] }
const part = (where: PartCost['where'], reward: number, head?: number): PartCost => ({
  where,
  layer: 1,
  ...(head !== undefined && { head }),
  reward: { mean: reward, interval: SURE },
  entropies: [],
})
const costs = (reward: readonly number[]): PartCosts => ({
  problems: 32,
  untouched: { reward: 0.8, entropies: [] },
  parts: [
    part('block', reward[0]),
    part('attention', reward[1]),
    part('head', reward[2], 0),
    part('feed_forward', reward[3]),
  ],
})

test('parts of one kind have a line each over the steps, with their intervals', () => {
  const items = [
    { step: 10, costs: costs([-0.5, 0, 0.1, 0.3]) },
    { step: 20, costs: costs([-0.25, 0.2, 0, 0.1]) },
  ]
  const { parts } = items[0].costs
  const groups = partGroups(parts)
  expect(groups.map(({ label }) => label).slice(0, 3)).toEqual([
    'whole layers',
    'attention',
    'feed-forward',
  ])
  const [measure] = measuresOf(items[0].costs)
  const all = groups.flatMap((group) => partLines(items, group, measure, () => LOOK))
  // Every part is in one group.
  expect(all.map(({ label }) => label).sort()).toEqual(parts.map(partName).sort())
  for (const { at, middle, low, high, label } of all) {
    const i = parts.findIndex((part) => partName(part) === label)
    expect(at).toEqual([10, 20])
    expect(middle).toEqual(items.map((item) => item.costs.parts[i].reward.mean))
    expect(low?.[0]).toBeCloseTo(middle[0] - SURE, 12)
    expect(high?.[1]).toBeCloseTo(middle[1] + SURE, 12)
  }
  const group = groups.find((one) => one.holds(parts[0])) ?? groups[0]
  const { columns, rows } = partStepsTable(items, group, measure)
  expect(columns.slice(0, 2)).toEqual(['step', `without ${partName(parts[0])}`])
  expect(rows.map((row) => row.slice(0, 3))).toEqual([
    ['10', '−0.5', '0.05'],
    ['20', '−0.25', '0.05'],
  ])
  expect(partLines([], group, measure, () => LOOK)).toEqual([])
})
