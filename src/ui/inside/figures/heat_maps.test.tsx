// Tests that the map of raw states has every step of any run, and the others what was looked at.
import { renderToStaticMarkup } from 'react-dom/server'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { OPENING } from '../../../document/presets/presets.ts'
import { appendRow, type Series } from '../../../host/columns/series.ts'
import { initialState, type LabState, labStore } from '../../../page/state/store.ts'
import { shownStore, viewStore } from '../../shown/shown.ts'
import { uiStore } from '../../shown/store.ts'
import { HeatMaps } from './HeatMaps.tsx'

function measured(status: LabState['status'], freq = 1): string {
  const series = new Map<string, Series>()
  for (let layer = 0; layer <= 3; layer++)
    for (const step of [1, 2, 3])
      appendRow(series, `layer/entropy/${layer}`, step, 3 - layer / step)
  const experiment = { ...OPENING.experiment, probe: { ...OPENING.experiment.probe, freq } }
  labStore.setState(
    { ...initialState(), experiment, runExperiment: experiment, status, series, step: 3 },
    true,
  )
  return renderToStaticMarkup(<HeatMaps />)
}

beforeEach(() => {
  for (const store of [labStore, shownStore, viewStore, uiStore])
    vi.spyOn(store, 'getInitialState').mockImplementation(store.getState as never)
})
afterEach(() => {
  labStore.setState(initialState(), true)
  vi.restoreAllMocks()
})

test('a run that nobody looked into has the map of its raw states', () => {
  const markup = measured('finished')
  expect(markup).toContain('heat-raw-chart')
  expect(markup).not.toContain('heat-normed-chart')
  expect(markup).toContain('Raw states: every step.')
  expect(markup).toContain('From step 1 to 3')
  expect(measured('finished', 10)).toContain('Raw states: every 10 steps.')
})

test('while a run is on the other maps keep their places', () => {
  expect(measured('running')).toContain('heat-feed-forward-chart')
})
