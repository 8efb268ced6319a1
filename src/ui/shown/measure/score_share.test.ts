import { afterEach, expect, test } from 'vitest'
import { PRESETS } from '../../../document/presets/presets.ts'
import { Series } from '../../../host/columns/series.ts'
import { labStore } from '../../../page/state/store.ts'
import { viewStore } from '../shown.ts'
import { VERL_LOG } from '../testing.ts'
import { isShare } from './score_share.ts'

const [{ experiment }] = PRESETS
const stateOf = (own: typeof experiment, ...metrics: readonly string[]) => ({
  ...labStore.getState(),
  runExperiment: own,
  experiment: own,
  series: new Map(metrics.map((metric) => [metric, new Series()])),
})

afterEach(() => viewStore.setState({ log: undefined }))

test('a reward that cannot exceed 1 is a share, unless one was measured that did', () => {
  const state = stateOf(experiment)
  expect(isShare(state, { low: 0, high: 1 })).toBe(true)
  // What rounding adds to a sum of weights is nothing.
  expect(isShare(state, { low: 0, high: 1 + Number.EPSILON })).toBe(true)
  expect(isShare(state, { low: 0, high: 1.2 })).toBe(false)
  expect(isShare(state, { low: Infinity, high: -Infinity })).toBe(true)
})

test('a log with an accuracy has shares, until it measures what is none', () => {
  viewStore.setState({ log: VERL_LOG })
  const sum = {
    ...experiment,
    reward: { ...experiment.reward, parts: [{ id: 'length', weight: 2 }] },
  }
  const log = stateOf(sum, 'critic/score/mean', 'val-core/gsm8k/acc/mean@1')
  expect(isShare(log, { low: 0.2, high: 0.9 })).toBe(true)
  expect(isShare(log, { low: 0.2, high: 2.4 })).toBe(false)
  expect(isShare(log, { low: -6, high: 0 })).toBe(false)
  // A reward alone can be anything, though it lies between 0 and 1.
  const reward = stateOf(experiment, 'critic/score/mean', 'val-core/a/reward/mean@1')
  expect(isShare(reward, { low: 0.2, high: 0.9 })).toBe(false)
  viewStore.setState({ log: undefined })
  expect(isShare(log, { low: 0.2, high: 0.9 })).toBe(false)
})
