import { describe, expect, test } from 'vitest'
import { appendMetrics, type Series } from '../../../host/columns/series.ts'
import { observationOf, seenAt } from '../testing.ts'
import {
  columnsOfKept,
  comparable,
  divergences,
  firstPass,
  isOneMoment,
  layerChange,
  passAtK,
  passCurves,
  perplexity,
  spread,
} from './history.ts'

test('steps that lack a value leave no point', () => {
  const items = [
    seenAt(0, observationOf({ dH_layer: [-1, -2] })),
    seenAt(5, observationOf()),
    seenAt(9, observationOf({ dH_layer: [-3, -4] })),
  ]
  const columns = columnsOfKept(items, (observation) => layerChange(observation, 2))
  expect(columns).toEqual({ steps: [0, 9], values: [-2, -4], length: 2 })
  expect(columnsOfKept(items, (observation) => layerChange(observation, 0)).length).toBe(0)
})

test('a run is of one moment where only one can be compared that has what is drawn', () => {
  const flow = { ent_layer_raw: [3, 2, 1] }
  const end = seenAt(45, observationOf(flow))
  const before = seenAt(0, observationOf(flow, { rows: 'held_out' }))
  const isOne = (items: Parameters<typeof isOneMoment>[0]) => isOneMoment(items, ['ent_layer_raw'])
  expect(isOne([end])).toBe(true)
  expect(isOne([before, end])).toBe(true)
  expect(isOne([seenAt(9, observationOf()), end])).toBe(true)
  expect(isOne([seenAt(9, observationOf(flow)), end])).toBe(false)
  expect(isOne([])).toBe(false)
})

test('what is compared over the steps is of the same tokens', () => {
  const of = (step: number, rows: 'held_out' | 'responses') =>
    seenAt(step, { ...observationOf(), rows })
  const items = [of(0, 'held_out'), of(1, 'responses'), of(5, 'responses')]
  expect(comparable(items).map(({ step }) => step)).toEqual([1, 5])
  // Of as many, the newer.
  expect(comparable(items.slice(0, 2)).map(({ step }) => step)).toEqual([1])
  expect(comparable([])).toEqual([])
})

test('perplexity is of the model’s own policy, the last entry', () => {
  const logp_next_layer_norm = [-9, -9, -Math.log(4)]
  expect(perplexity(observationOf({ logp_next_layer_norm }))).toBeCloseTo(4, 12)
  expect(perplexity(observationOf())).toBeUndefined()
})

test('divergences are of steps that were measured from the same layer', () => {
  const items = [
    seenAt(1, observationOf({ kl_of_layer: [5, 0, 1] }, { layer: 1 })),
    seenAt(2, observationOf({ kl_of_layer: [7, 1, 0] }, { layer: 2 })),
    seenAt(3, observationOf({ kl_of_layer: [6, 0, 2] }, { layer: 1 })),
  ]
  const columns = divergences(items, 1, 2)
  expect(columns).toHaveLength(3)
  expect(columns[2]).toEqual({ steps: [1, 3], values: [1, 2], length: 2 })
  expect(divergences(items, 0, 2).every(({ length }) => length === 0)).toBe(true)
})

test('a few of many steps: the first, the last, and even distances between, by step and not by index', () => {
  const items = [0, 1, 2, 3, 50, 100].map((step) => seenAt(step, observationOf()))
  expect(spread(items, 3).map(({ step }) => step)).toEqual([0, 50, 100])
  expect(spread(items, 4).map(({ step }) => step)).toEqual([0, 50, 100])
  expect(spread(items, 6)).toBe(items)
  expect(spread([], 4)).toEqual([])
})

describe('pass@k', () => {
  const series = new Map<string, Series>()
  for (const [step, share] of [
    [0, 0.1],
    [20, 0.2],
    [40, 0.3],
  ])
    appendMetrics(series, step, {
      'val-aux/sums/pass@16/mean': share + 0.5,
      'val-aux/sums/pass@2/mean': share + 0.1,
      'val-aux/sums/pass@1/mean': share,
      'val-aux/other/pass@1/mean': 0.9,
      'val-aux/sums/acc/greedy': 0.8,
    })

  test('is ordered by k and of the task alone', () => {
    const points = passAtK(series, 'sums', undefined)
    expect(points.map(({ k }) => k)).toEqual([1, 2, 16])
    expect(points.map(({ step }) => step)).toEqual([40, 40, 40])
    expect(points[2].value).toBeCloseTo(0.8, 12)
  })

  test('at a step is the newest measured until then', () => {
    expect(passAtK(series, 'sums', 39).map(({ step }) => step)).toEqual([20, 20, 20])
    expect(passAtK(series, 'sums', -1)).toEqual([])
    expect(firstPass(series, 'sums')).toBe(0)
  })

  test('the first, the one that is looked back to, and the newest, each step once', () => {
    const named = (atStep: number | undefined) =>
      passCurves(series, 'sums', atStep).map(({ name, step }) => [name, step])
    expect(named(undefined)).toEqual([
      ['first', 0],
      ['now', 40],
    ])
    expect(named(25)).toEqual([
      ['first', 0],
      ['shown', 20],
      ['now', 40],
    ])
    expect(named(3)).toEqual([
      ['first', 0],
      ['now', 40],
    ])
    expect(named(40)).toEqual([
      ['first', 0],
      ['shown', 40],
    ])
    expect(passCurves(series, 'none', undefined)).toEqual([])
  })

  test('is absent where it was not measured', () => {
    expect(passAtK(series, 'none', undefined)).toEqual([])
    expect(firstPass(series, 'none')).toBeUndefined()
  })
})
