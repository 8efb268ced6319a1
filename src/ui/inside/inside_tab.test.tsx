import { renderToStaticMarkup } from 'react-dom/server'
import { afterEach, expect, test, vi } from 'vitest'
import { viewStore } from '../shown/shown.ts'
import { VERL_LOG } from '../shown/testing.ts'
import { InsideTab } from './InsideTab.tsx'

afterEach(() => {
  vi.restoreAllMocks()
  viewStore.setState({ viewed: undefined, log: undefined })
})

test('of a log the tab says once that nothing can be looked into', () => {
  // What is rendered to text reads the store as it was at first.
  vi.spyOn(viewStore, 'getInitialState').mockImplementation(viewStore.getState)
  viewStore.setState({ viewed: undefined, log: VERL_LOG })
  const html = renderToStaticMarkup(<InsideTab />)
  expect(html).toContain('A log has no weights to look into.')
  expect(html).not.toContain('Not measured yet')
})
