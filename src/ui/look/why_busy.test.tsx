// Tests that what cannot be started says why: a recording, a run, or no GPU.
import { renderToStaticMarkup } from 'react-dom/server'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { type ReplayState, replayStore } from '../../page/state/replay.ts'
import { initialState, type LabState, labStore } from '../../page/state/store.ts'
import { useWhyBusy } from './why_busy.ts'

const Answer = () => useWhyBusy() ?? 'free'
const own = { adapter: 'own' } as unknown as ReplayState['own']
const why = (state: Partial<LabState>, replay: Partial<ReplayState> = {}): string => {
  labStore.setState({ ...initialState(), ...state }, true)
  replayStore.setState({ recording: undefined, own: undefined, ...replay })
  return renderToStaticMarkup(<Answer />)
}
const recording = {} as ReplayState['recording']
const failed = (code: string) => ({ name: 'E', code, message: '' }) as LabState['error']

beforeEach(() => {
  // Static markup shows what a store began with.
  for (const store of [labStore, replayStore])
    vi.spyOn(store, 'getInitialState').mockImplementation(store.getState as never)
})
afterEach(() => {
  vi.restoreAllMocks()
  replayStore.setState({ recording: undefined })
})

test('a run that is on is finished or reset first', () => {
  expect(why({ status: 'idle' })).toBe('free')
  for (const status of ['running', 'paused', 'preparing', 'waiting'] as const)
    expect(why({ status })).toBe('A run is in progress: finish or reset it first')
})

test('a recording is no run, while it plays and at its end', () => {
  for (const status of ['running', 'finished'] as const)
    expect(why({ status }, { recording, own })).toBe('A recording is open: leave it first')
})

test('without a GPU no run is spoken of', () => {
  const words = 'This needs a GPU, and the browser gives the page none'
  expect(why({ status: 'failed', error: failed('no_webgpu') })).toBe(words)
  expect(why({ status: 'failed', error: failed('no_adapter') })).toBe(words)
  expect(why({ status: 'failed', error: failed('internal') })).toBe('free')
  // To leave the recording would not help.
  expect(why({ status: 'running' }, { recording })).toBe(words)
})
