// What the picture says of itself before a run.
import { renderToStaticMarkup } from 'react-dom/server'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { OPENING, presetOf } from '../../document/presets/presets.ts'
import { shareStore } from '../../page/state/share_store.ts'
import { initialState, labStore } from '../../page/state/store.ts'
import { Source } from './Forest.tsx'
import { playedScene } from './scene.ts'

beforeEach(() => {
  // Static markup shows what a store began with.
  vi.spyOn(labStore, 'getInitialState').mockImplementation(labStore.getState)
})
afterEach(() => {
  vi.restoreAllMocks()
  labStore.setState(initialState(), true)
})

test('a recording is marked as that of another experiment once one was chosen', () => {
  const said = (id: string) => {
    const experiment = presetOf(id)?.experiment ?? OPENING.experiment
    labStore.setState({ ...initialState(), experiment }, true)
    return renderToStaticMarkup(<Source scene={playedScene(1, shareStore.getState())} />)
  }
  expect(said(OPENING.id)).toContain('A recorded first run: step')
  expect(said('story-ends')).toContain('A recorded first run, not this experiment: step')
})
