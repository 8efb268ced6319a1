// Tests that the button names the run that it plays.
import { renderToStaticMarkup } from 'react-dom/server'
import { afterEach, expect, test, vi } from 'vitest'
import { OPENING } from '../../document/presets/presets.ts'
import { initialState, labStore } from '../../page/state/store.ts'
import { WatchRecording } from './WatchRecording.tsx'

afterEach(() => {
  vi.restoreAllMocks()
  labStore.setState(initialState(), true)
})

test('with another preset chosen it says whose recording is played', () => {
  vi.spyOn(labStore, 'getInitialState').mockImplementation(labStore.getState)
  labStore.setState({ preset_id: OPENING.id })
  const says = () => renderToStaticMarkup(<WatchRecording />)
  expect(says()).toContain('Follow the recorded run step by step')
  labStore.setState({ preset_id: 'brackets' })
  expect(says()).toContain('Watch the first run')
})
