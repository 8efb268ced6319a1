// The note on the picture says whose run that is, where nothing else does.
import { renderToStaticMarkup } from 'react-dom/server'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { OPENING, presetOf } from '../../document/presets/presets.ts'
import { libraryStore } from '../../page/runs/library/library_store.ts'
import { shareStore } from '../../page/state/share_store.ts'
import { initialState, labStore } from '../../page/state/store.ts'
import { PlayedAbove } from './PlayedAbove.tsx'

const { experiment } = OPENING
const said = () => renderToStaticMarkup(<PlayedAbove />)

beforeEach(() => {
  // Static markup shows what a store began with.
  for (const store of [labStore, libraryStore, shareStore])
    vi.spyOn(store, 'getInitialState').mockImplementation(store.getState as never)
  labStore.setState({ ...initialState(), experiment: presetOf('tiny')?.experiment ?? experiment })
})
afterEach(() => {
  vi.restoreAllMocks()
  shareStore.setState({ result: undefined })
  labStore.setState(initialState(), true)
})

test('beside a sender’s result it only says what plays, where that is not the sender’s run', () => {
  expect(said()).toContain('There is no current run.')
  const lines = Array.from({ length: experiment.model.num_hidden_layers + 1 }, (_, layer) => ({
    name: `layer/entropy/${layer}`,
    steps: [1],
    values: [1],
  }))
  const result = { adapter: 'A', steps: 1, lines: lines.slice(1) }
  shareStore.setState({ result, experiment })
  expect(said()).not.toContain('There is no current run.')
  expect(said()).toContain('is of a recording of')
  shareStore.setState({ result: { ...result, lines } })
  expect(said()).toBe('')
})

test('who has trained before finds the last run by its name', () => {
  const header = {
    document: experiment,
    experiment,
    preset_id: OPENING.id,
    phase_switches: [],
    step: 45,
  }
  libraryStore.setState({
    entries: [{ id: 'own', header, labels: { name: 'My sorter' } }] as never,
  })
  expect(said()).toContain('Your last run, “My sorter”: open it')
  libraryStore.setState({ entries: [] })
  expect(said()).not.toContain('Your last run')
})
