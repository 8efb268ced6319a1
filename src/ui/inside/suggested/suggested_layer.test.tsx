// Tests that a past run is asked about its own phases, and that a measurement which came too late
// is called that.
import { renderToStaticMarkup } from 'react-dom/server'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { withField } from '../../../document/experiment/experiment.ts'
import { OPENING } from '../../../document/presets/presets.ts'
import { libraryStore } from '../../../page/runs/library/library_store.ts'
import { replayStore } from '../../../page/state/replay.ts'
import { initialState, type LabState, labStore } from '../../../page/state/store.ts'
import { openedStore } from '../../open/opened_run.ts'
import { shownStore, viewStore } from '../../shown/shown.ts'
import { uiStore } from '../../shown/store.ts'
import { observationOf } from '../testing.ts'
import { SuggestedLayer } from './SuggestedLayer.tsx'
import { ThresholdField } from './Threshold.tsx'

function changed(path: string, value: unknown) {
  const found = withField(OPENING.experiment, path, value)
  if (!found.ok) throw new Error(found.message)
  return found.experiment
}

/** A run of this experiment that was looked at after a step; its reinforcement began at once. */
function seenAfter(step: number, experiment = OPENING.experiment): LabState {
  const state: LabState = {
    ...initialState(),
    experiment,
    runExperiment: experiment,
    runDocument: experiment,
    phase_switches: [{ step: 0, phase: 0, reason: 'start' }],
    step: 45,
  }
  const layers = experiment.model.num_hidden_layers
  const dH_ffn = Array.from({ length: layers }, (_, l) => (l === 0 ? 1 : -1))
  state.kept.observations.push(step, observationOf({ dH_ffn }, { num_hidden_layers: layers }), 9)
  return state
}
const drawn = () => renderToStaticMarkup(<SuggestedLayer />)

beforeEach(() => {
  // Static markup shows what a store began with.
  for (const store of [
    labStore,
    libraryStore,
    replayStore,
    viewStore,
    shownStore,
    openedStore,
    uiStore,
  ])
    vi.spyOn(store, 'getInitialState').mockImplementation(store.getState as never)
})
afterEach(() => {
  viewStore.setState({ viewed: undefined })
  openedStore.setState({ opened: undefined })
  libraryStore.setState({ entries: [] })
  labStore.setState(initialState(), true)
  vi.restoreAllMocks()
})

test('of a past run its own phases are offered, not those of the page', () => {
  const past = changed('phases.0.target_layer', 1)
  labStore.setState({ ...initialState(), experiment: OPENING.experiment }, true)
  expect(OPENING.experiment.phases[0]).toMatchObject({ target_layer: 2 })
  viewStore.setState({ viewed: seenAfter(0, past) })
  const header = { id: 'past', document: past, experiment: past }
  libraryStore.setState({ entries: [{ id: 'past', header }] as never })
  openedStore.setState({ opened: { id: 'past', unreadable: 0, isElsewhere: false } })
  const markup = drawn()
  expect(markup).toContain('Train layer 1 first: it is the last layer whose feed-forward still')
  expect(markup).toContain('1: layer 1')
  expect(markup).not.toContain('1: layer 2')
  expect(markup).toContain('A button puts the settings of this run into the form')
})

test('a measurement of the end is no suggestion of what to train first', () => {
  labStore.setState(seenAfter(0), true)
  expect(drawn()).toContain('Step 0 is where reinforcement began')
  labStore.setState(seenAfter(45), true)
  const markup = drawn()
  expect(markup).not.toContain('Train layer 1 first')
  expect(markup).toContain('After step 45 layer 1 is the last whose feed-forward still widens')
  expect(markup).toContain('with 45 steps of reinforcement behind it')
})

test('a later state is an addition to the answer of an earlier one', () => {
  const state = seenAfter(4)
  const layers = OPENING.experiment.model.num_hidden_layers
  const dH_ffn = Array.from({ length: layers }, (_, l) => (l === 0 ? 0.301 : -1))
  state.kept.observations.push(12, observationOf({ dH_ffn }, { num_hidden_layers: layers }), 9)
  labStore.setState(state, true)
  const markup = drawn()
  expect(markup).toContain('After step 4 layer 1 is the last')
  expect(markup).toContain('Later, after step 12, it is layer 1 (+0.301 nats).')
})

test('a run that began with reinforcement and measured nothing offers its beginning', () => {
  labStore.setState({ ...seenAfter(4), status: 'finished', record: 'r' }, true)
  expect(drawn()).toContain('Its beginning can be made again, with its seed')
  // What another run left cannot be made again from this one’s document.
  const parent = { record: 'p', step: 3 }
  labStore.setState({ ...seenAfter(4), status: 'finished', record: 'r', parent }, true)
  expect(drawn()).not.toContain('Its beginning can be made again')
})

test('a threshold that cannot be says its range, and which one holds', () => {
  const typed = (draft: string | undefined) =>
    renderToStaticMarkup(
      <ThresholdField threshold={0.05} draft={draft} onType={() => {}} onKeep={() => {}} />,
    )
  expect(typed(undefined)).not.toContain('role="alert"')
  for (const draft of ['999', '-1']) {
    expect(typed(draft)).toContain(`value="${draft}"`)
    expect(typed(draft)).toContain('The threshold is a number from 0 to 10.')
    expect(typed(draft)).toContain('keep 0.05')
  }
})
