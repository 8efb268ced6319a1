import { renderToStaticMarkup } from 'react-dom/server'
import { afterEach, expect, test, vi } from 'vitest'
import { initialState, labStore } from '../../../page/state/store.ts'
import { Options } from './Options.tsx'

afterEach(() => {
  vi.restoreAllMocks()
  labStore.setState(initialState(), true)
})

test('measuring a text can be stopped while a run is on', () => {
  // Static markup shows what a store began with.
  vi.spyOn(labStore, 'getInitialState').mockImplementation(labStore.getState)
  const sample = { prompt: '21=', response: '12', is_ended: true }
  const text = { key: 'a', sample, since: 3, isOfOther: false }
  const drawn = () =>
    renderToStaticMarkup(<Options texts={[text]} chosen={text} steps={[]} other={undefined} />)
  labStore.setState({ status: 'running' })
  expect(drawn()).toContain('Stop measuring it')
  labStore.setState({ status: 'finished' })
  expect(drawn()).toContain('21= 12 (of step 3)')
  expect(drawn()).not.toContain('Stop measuring it')
})
