// Tests what the page says of a model that nobody has opened yet.
import { renderToStaticMarkup } from 'react-dom/server'
import { afterEach, expect, test, vi } from 'vitest'
import { presetOf } from '../../document/presets/presets.ts'
import { unopenedModel } from '../../host/content/models/unopened.ts'
import { initialState, labStore } from '../../page/state/store.ts'
import { MissingFiles } from './MissingFiles.tsx'

afterEach(() => {
  vi.restoreAllMocks()
  labStore.setState(initialState(), true)
})

test('without a GPU nobody is asked to open a model and train from it', () => {
  vi.spyOn(labStore, 'getInitialState').mockImplementation(labStore.getState)
  const experiment = presetOf('smollm2-135m-countdown')?.experiment
  if (!experiment) throw new Error('no such preset')
  expect(unopenedModel(experiment)).toBeDefined()
  labStore.setState({ ...initialState(), experiment })
  const says = () => renderToStaticMarkup(<MissingFiles />)
  expect(says()).toContain('Train from it')
  const error = { name: 'GpuError', code: 'no_adapter', message: '' } as const
  labStore.setState({ status: 'failed', error })
  expect(says()).not.toContain('Train from it')
  expect(says()).not.toContain('<button')
  expect(says()).toContain('need a GPU')
})
