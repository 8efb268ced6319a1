// The track below the phases has their scale, whatever is drawn behind the run.
import { renderToStaticMarkup } from 'react-dom/server'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { parsed } from '../../../document/experiment/testing.ts'
import { initialState, labStore } from '../../../page/state/store.ts'
import { overlayStore } from '../../shown/overlays.ts'
import { presentStore, shownStore, viewStore } from '../../shown/shown.ts'
import { VERL_LOG } from '../../shown/testing.ts'
import { StepTools } from './StepTools.tsx'
import { StepTrack } from './StepTrack.tsx'

beforeEach(() => {
  // Static markup shows what a store began with.
  for (const store of [labStore, presentStore, shownStore, viewStore])
    vi.spyOn(store, 'getInitialState').mockImplementation(store.getState as never)
})
afterEach(() => {
  vi.restoreAllMocks()
  overlayStore.setState({ overlays: [] })
  labStore.setState(initialState())
})

test('the end of a run is the end of the track, also beside a longer run', () => {
  const experiment = parsed({
    phases: [
      { kind: 'sft', steps: 4 },
      { kind: 'rl', steps: 8 },
    ],
  })
  labStore.setState({
    ...initialState(),
    experiment,
    runExperiment: experiment,
    runDocument: experiment,
    status: 'finished',
    phase_switches: [
      { step: 0, phase: 0, reason: 'start' },
      { step: 4, phase: 1, reason: 'steps' },
    ],
    step: 12,
    phase: 1,
    phase_step: 8,
  })
  const placeOf = (next?: { readonly steps: number }[]) =>
    /left:([\d.]+)%" data-handle="scrubber"/.exec(
      renderToStaticMarkup(
        <StepTrack timeline={{ isNext: next !== undefined, phases: next ?? [] }} />,
      ),
    )?.[1]
  expect(placeOf()).toBe('100')
  // Below the phases of a longer next run its last step is no end.
  expect(placeOf([{ steps: 4 }, { steps: 8 }, { steps: 12 }])).toBe('50')
  const end = () => ({ last: 45, planned: 45 })
  overlayStore.setState({
    overlays: [{ id: 'sender', label: '', color: '', dash: [], end, series: () => undefined }],
  })
  expect(placeOf()).toBe('100')
})

test('of a log nothing is said to be kept, which holds metrics alone', () => {
  labStore.setState({ ...initialState(), status: 'finished', step: 3 })
  expect(renderToStaticMarkup(<StepTools />)).toContain('Kept: ')
  viewStore.setState({ log: VERL_LOG })
  const html = renderToStaticMarkup(<StepTools />)
  viewStore.setState({ log: undefined })
  expect(html).toContain('scrub-step')
  expect(html).not.toContain('Kept: ')
})
