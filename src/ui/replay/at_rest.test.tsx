// Tests that the recording fills charts and figures only where nothing else would, and that all
// else stays as it is before a run.
import { readFileSync } from 'node:fs'
import { renderToStaticMarkup } from 'react-dom/server'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { withField } from '../../document/experiment/experiment.ts'
import { OPENING } from '../../document/presets/presets.ts'
import { recordedState } from '../../page/connection/shipped_recording.ts'
import { libraryStore } from '../../page/runs/library/library_store.ts'
import { replayStore } from '../../page/state/replay.ts'
import { initialState, labStore } from '../../page/state/store.ts'
import { readRecording } from '../../record/files/recording.ts'
import { scrubTo } from '../open/scrub.ts'
import { shownRunWords } from '../open/shown_run.ts'
import { seriesOf } from '../shown/run.ts'
import { presentStore, shownStore, viewStore } from '../shown/shown.ts'
import { readShownStep } from '../shown/shown_step.ts'
import { uiStore } from '../shown/store.ts'
import { useIsAtRest } from './at_rest.ts'

const read = readRecording(readFileSync('public/recordings/first-steps.json', 'utf8'))
if (!read.ok) throw new Error(read.problem)
const { recording } = read
const recorded = recordedState(recording)
const { experiment } = recording

const Answer = () => (useIsAtRest() ? 'at rest' : 'no')
/** A page that was opened without a link. */
const opened = () => ({ ...initialState(), experiment: OPENING.experiment })
const isAtRest = (): boolean => renderToStaticMarkup(<Answer />) === 'at rest'

beforeEach(() => {
  vi.stubGlobal('navigator', {})
  // Static markup shows what a store began with.
  for (const store of [labStore, libraryStore, replayStore, viewStore])
    vi.spyOn(store, 'getInitialState').mockImplementation(store.getState as never)
  labStore.setState(opened(), true)
  libraryStore.setState({ isReady: true, entries: [] })
  viewStore.setState({ viewed: undefined, recorded: undefined })
})
afterEach(() => {
  vi.unstubAllGlobals()
  replayStore.setState({ recording: undefined })
})

test('charts and figures show the recording; bars, files and the shown step do not', () => {
  viewStore.setState({ recorded })
  expect(shownStore.getState()).toBe(recorded)
  expect(seriesOf('layer/entropy/0')?.length).toBeGreaterThan(0)
  expect(recorded.kept.observations.items.length).toBeGreaterThan(0)
  expect(recorded.kept.traces.items.length).toBeGreaterThan(0)
  expect(shownRunWords()).toBe(`a recording of “${experiment.name}”`)
  expect(presentStore.getState()).toBe(labStore.getState())
  expect(readShownStep()).toMatchObject({ step: 0, isNewest: true })
  scrubTo(30)
  expect(uiStore.getState().atStep).toBeUndefined()
})

test('the recording gives way at once to a run that begins and to a past run', () => {
  viewStore.setState({ recorded })
  const viewed = { ...initialState(), step: 7 }
  viewStore.setState({ viewed })
  expect(shownStore.getState()).toBe(viewed)
  viewStore.setState({ viewed: undefined })
  labStore.setState({ runExperiment: experiment })
  expect(shownStore.getState()).toBe(labStore.getState())
})

test('it is asked for only before any run, with the settings that the page opens with', () => {
  expect(isAtRest()).toBe(true)
  const other = withField(OPENING.experiment, 'seed', 9)
  if (!other.ok) throw new Error(other.message)
  labStore.setState({ experiment: other.experiment })
  expect(isAtRest()).toBe(false)
  labStore.setState(opened(), true)
  labStore.setState({ runExperiment: labStore.getState().experiment })
  expect(isAtRest()).toBe(false)
  labStore.setState(opened(), true)
  expect(isAtRest()).toBe(true)
})

test('own runs, past runs, a replay and a visitor who saves data come first', () => {
  libraryStore.setState({ isReady: false })
  expect(isAtRest()).toBe(false)
  libraryStore.setState({ isReady: true, entries: [{ id: 'own' }] as never })
  expect(isAtRest()).toBe(false)
  libraryStore.setState({ entries: [] })
  viewStore.setState({ viewed: recorded })
  expect(isAtRest()).toBe(false)
  viewStore.setState({ viewed: undefined })
  replayStore.setState({ recording })
  expect(isAtRest()).toBe(false)
  replayStore.setState({ recording: undefined })
  expect(isAtRest()).toBe(true)
  vi.stubGlobal('navigator', { connection: { saveData: true } })
  expect(isAtRest()).toBe(false)
})
