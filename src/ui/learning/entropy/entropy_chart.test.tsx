// Tests which entropy is drawn of a log.
import { renderToStaticMarkup } from 'react-dom/server'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { appendRow, type Series } from '../../../host/columns/series.ts'
import { initialState, labStore } from '../../../page/state/store.ts'
import { LOGGED_ENTROPY, layerEntropy } from '../../shown/metrics.ts'
import { shownStore, viewStore } from '../../shown/shown.ts'
import { VERL_LOG } from '../../shown/testing.ts'
import { RewardChart } from '../scores/RewardChart.tsx'
import { EntropyChart } from './EntropyChart.tsx'

beforeEach(() => {
  // Static markup shows what a store began with.
  for (const store of [labStore, shownStore, viewStore])
    vi.spyOn(store, 'getInitialState').mockImplementation(store.getState as never)
})
afterEach(() => {
  vi.restoreAllMocks()
  viewStore.setState({ log: undefined })
  labStore.setState(initialState(), true)
})

test('of a log without any there is no chart, and none of its scores has a line that it lacks', () => {
  const series = new Map<string, Series>()
  labStore.setState({ series })
  appendRow(series, 'val-core/both/acc/mean@1', 1, 0.5)
  const scores = () => renderToStaticMarkup(<RewardChart height={200} />)
  viewStore.setState({ log: VERL_LOG })
  expect(renderToStaticMarkup(<EntropyChart height={200} />)).toBe('')
  expect(scores()).toContain('held-out, mean of answers')
  expect(scores()).not.toContain('reward, sampled')
})

test('of a log of another trainer it draws the one entropy that is there', () => {
  const series = new Map<string, Series>()
  labStore.setState({ series })
  const drawn = () => renderToStaticMarkup(<EntropyChart height={200} />)
  appendRow(series, LOGGED_ENTROPY, 1, 2.5)
  expect(drawn()).toContain('Entropy of every layer’s policy')
  // Another number than actor/entropy, which is of all samples before the update.
  const { rows } = labStore.getState().experiment.probe
  expect(drawn()).toContain(`up to ${rows} `)
  viewStore.setState({ log: VERL_LOG })
  expect(drawn()).toContain('Entropy of the policy')
  // The lab's own log has them all.
  const { num_hidden_layers } = labStore.getState().experiment.model
  appendRow(series, layerEntropy(num_hidden_layers), 1, 2.5)
  expect(drawn()).toContain('Entropy of every layer’s policy')
})
