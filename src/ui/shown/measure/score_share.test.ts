import { afterEach, expect, test } from 'vitest'
import { PRESETS } from '../../../document/presets/presets.ts'
import { viewStore } from '../shown.ts'
import { isShare } from './score_share.ts'

const [{ experiment }] = PRESETS

afterEach(() => viewStore.setState({ isImported: false }))

test('a reward that cannot exceed 1 is a share, unless one was measured that did', () => {
  expect(isShare(experiment, { low: 0, high: 1 })).toBe(true)
  // What rounding adds to a sum of weights is nothing.
  expect(isShare(experiment, { low: 0, high: 1 + Number.EPSILON })).toBe(true)
  expect(isShare(experiment, { low: 0, high: 1.2 })).toBe(false)
  expect(isShare(experiment, { low: Infinity, high: -Infinity })).toBe(true)
})

test('of a log what it measured alone says it', () => {
  viewStore.setState({ isImported: true })
  const sum = {
    ...experiment,
    reward: { ...experiment.reward, parts: [{ id: 'length', weight: 2 }] },
  }
  expect(isShare(sum, { low: 0.2, high: 0.9 })).toBe(true)
  expect(isShare(experiment, { low: 0.2, high: 2.4 })).toBe(false)
  expect(isShare(experiment, { low: -6, high: 0 })).toBe(false)
  viewStore.setState({ isImported: false })
  expect(isShare(sum, { low: 0.2, high: 0.9 })).toBe(false)
})
