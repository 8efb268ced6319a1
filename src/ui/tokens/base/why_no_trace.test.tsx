// Tests that a step is offered for tracing only where one can be traced.
import { renderToStaticMarkup } from 'react-dom/server'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { type ReplayState, replayStore } from '../../../page/state/replay.ts'
import { initialState, type LabState, labStore } from '../../../page/state/store.ts'
import { TraceActions } from '../inspector/TraceActions.tsx'
import { Stages } from '../stages/Stages.tsx'

const drawn = (state: Partial<LabState>, recording?: unknown): string => {
  labStore.setState({ ...initialState(), ...state }, true)
  replayStore.setState({ recording: recording as ReplayState['recording'] })
  return (
    renderToStaticMarkup(<TraceActions isAlong isLiving hasButton />) +
    renderToStaticMarkup(<Stages />)
  )
}
const OFFERS = ['trace-along', 'trace-now', 'trace-follow', 'trace-step']
const offered = (markup: string) => OFFERS.filter((id) => markup.includes(`data-testid="${id}"`))

beforeEach(() => {
  // Static markup shows what a store began with.
  for (const store of [labStore, replayStore])
    vi.spyOn(store, 'getInitialState').mockImplementation(store.getState as never)
})
afterEach(() => {
  vi.restoreAllMocks()
  replayStore.setState({ recording: undefined })
})

test('a run on this page can be traced', () => {
  expect(offered(drawn({ status: 'running' }))).toEqual(OFFERS)
})

test('a recording offers no tracing, and says why', () => {
  const markup = drawn({ status: 'running' }, {})
  expect(offered(markup)).toEqual([])
  expect(markup).toContain('A recording has only the steps that were traced when it was made.')
})

test('without a GPU nothing is offered either', () => {
  const error = { name: 'E', code: 'no_webgpu', message: '' } as LabState['error']
  const markup = drawn({ status: 'failed', error })
  expect(offered(markup)).toEqual([])
  expect(markup).toContain('Tracing a step needs a GPU')
})

test('a run that is over is no run to train first', () => {
  const first = 'Train first: only a step of a run can be traced'
  const markup = drawn({ status: 'finished', record: 'a' })
  expect(offered(markup)).toEqual(OFFERS)
  expect(markup).not.toContain(first)
  expect(markup.split('“Look now” in this tab traces the step after it')).toHaveLength(3)
  expect(drawn({ status: 'idle' })).toContain(first)
  expect(drawn({ status: 'running', record: 'a' })).not.toContain('Look now')
})
