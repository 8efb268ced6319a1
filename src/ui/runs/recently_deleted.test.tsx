// Deleted runs have a way back after the note on them is gone.
import { renderToStaticMarkup } from 'react-dom/server'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { EMPTY_LIBRARY, libraryStore } from '../../page/runs/library/library_store.ts'
import { Deleted } from './Deleted.tsx'
import { DeletedNote } from './DeletedNote.tsx'
import { listStore, RecentlyDeleted } from './RecentlyDeleted.tsx'
import { entryOf } from './table/testing.ts'

beforeEach(() => {
  vi.spyOn(libraryStore, 'getInitialState').mockImplementation(libraryStore.getState)
})
afterEach(() => {
  vi.restoreAllMocks()
  libraryStore.setState(EMPTY_LIBRARY)
})

test('what was deleted is listed until it is gone, and the note only says what was deleted just now', () => {
  const entries = [entryOf('one', {}), entryOf('two', {})]
  expect(renderToStaticMarkup(<RecentlyDeleted />)).toBe('')
  libraryStore.setState({ entries, deleted: ['one', 'two'], justDeleted: ['two'] })
  expect(renderToStaticMarkup(<DeletedNote deleted={['two']} />)).toContain('“two” deleted.')
  expect(renderToStaticMarkup(<Deleted />)).toContain('data-shown="true"')
  const list = renderToStaticMarkup(<RecentlyDeleted />)
  expect(list).toContain('2 runs deleted')
  for (const name of ['one', 'two']) expect(list).toContain(`Bring “${name}” back`)
  libraryStore.setState({ justDeleted: [] })
  expect(renderToStaticMarkup(<Deleted />)).toContain('data-shown="false"')
  expect(renderToStaticMarkup(<RecentlyDeleted />)).toBe(list)
})

test('the list stays open that somebody opened, as the tabs come and go', () => {
  vi.spyOn(listStore, 'getInitialState').mockImplementation(listStore.getState)
  libraryStore.setState({ entries: [entryOf('one', {})], deleted: ['one'] })
  expect(renderToStaticMarkup(<RecentlyDeleted />)).not.toContain('open=""')
  listStore.setState({ isOpen: true })
  expect(renderToStaticMarkup(<RecentlyDeleted />)).toContain('open=""')
  listStore.setState({ isOpen: false })
})
