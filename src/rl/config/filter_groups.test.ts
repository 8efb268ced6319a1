import { expect, test } from 'vitest'
import {
  checkFilterGroups,
  chooseGroups,
  filterMetrics,
  informativeGroups,
  needsMore,
} from './filter_groups.ts'

test('a group is informative where its values differ, however little; one alone always is', () => {
  expect(informativeGroups([1, 1, 0, 1, 0, 0], 2)).toEqual([false, true, false])
  expect(informativeGroups([1, 1 + 2 ** -52, 0.1, 0.1], 2)).toEqual([true, false])
  // numpy's std of three times 0.1 is 1.4e-17.
  expect(informativeGroups([0.1, 0.1, 0.1], 3)).toEqual([false])
  expect(informativeGroups([0, 0, 1], 1)).toEqual([true, true, true])
})

test('the first informative groups are taken in the order in which they were drawn', () => {
  const drawn = [
    [false, true, false],
    [true, true, true],
  ]
  expect(chooseGroups(drawn, 3)).toEqual([
    { genBatch: 0, group: 1 },
    { genBatch: 1, group: 0 },
    { genBatch: 1, group: 1 },
  ])
  expect(filterMetrics(drawn)).toEqual({
    'train/num_gen_batches': 2,
    'group/informative_drawn': 4 / 6,
  })
})

test('where there are too few, groups without spread fill up, the first first', () => {
  const drawn = [
    [false, false, true],
    [false, false, false],
  ]
  expect(chooseGroups(drawn, 3)).toEqual([
    { genBatch: 0, group: 2 },
    { genBatch: 0, group: 0 },
    { genBatch: 0, group: 1 },
  ])
})

test('a step draws until it has enough, or has drawn as often as it may', () => {
  const limit = { max_num_gen_batches: 3 }
  const half = [true, false]
  expect(needsMore([half], 2, limit)).toBe(true)
  expect(needsMore([half, half], 2, limit)).toBe(false)
  expect(needsMore([half, half], 3, limit)).toBe(true)
  expect(needsMore([half, half, [false, false]], 3, limit)).toBe(false)
})

test('settings that cannot be followed are refused', () => {
  const settings = { enable: true, metric: 'acc', max_num_gen_batches: 1 } as const
  expect(() => checkFilterGroups(settings, true)).not.toThrow()
  for (const max_num_gen_batches of [0, -1, 1.5, Number.NaN])
    expect(() => checkFilterGroups({ ...settings, max_num_gen_batches }, false)).toThrow(RangeError)
  const final = { ...settings, metric: 'seq_final_reward' } as const
  expect(() => checkFilterGroups(final, false)).not.toThrow()
  expect(() => checkFilterGroups(final, true)).toThrow(/KL makes the rewards of every group differ/)
})
