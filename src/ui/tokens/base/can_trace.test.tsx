// Tests that a trace is offered only where a step may come.
import { renderToStaticMarkup } from 'react-dom/server'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { type ReplayState, replayStore } from '../../../page/state/replay.ts'
import { initialState, labStore } from '../../../page/state/store.ts'
import { viewStore } from '../../shown/shown.ts'
import { useCanTrace } from './view.ts'

const Answer = () => String(useCanTrace())
const answer = () => renderToStaticMarkup(<Answer />)

beforeEach(() => {
  // Static markup shows what a store began with.
  for (const store of [labStore, replayStore, viewStore])
    vi.spyOn(store, 'getInitialState').mockImplementation(store.getState as never)
  labStore.setState(initialState(), true)
})
afterEach(() => {
  vi.restoreAllMocks()
  replayStore.setState({ recording: undefined })
  labStore.setState(initialState(), true)
})

test('neither a recording nor a page without a GPU traces a step', () => {
  expect(answer()).toBe('true')
  replayStore.setState({ recording: {} as ReplayState['recording'] })
  expect(answer()).toBe('false')
  replayStore.setState({ recording: undefined })
  labStore.setState({ error: { name: 'GpuError', code: 'no_adapter', message: '' } })
  expect(answer()).toBe('false')
})
