// Deleted studies have a way back after the note on them is gone.
import { renderToStaticMarkup } from 'react-dom/server'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { studyOf } from '../../../document/study/testing.ts'
import { EMPTY, studyStore } from '../../../page/study/study_state.ts'
import { UndoToast } from '../UndoToast.tsx'
import { DeletedStudies } from './DeletedStudies.tsx'

beforeEach(() => {
  vi.spyOn(studyStore, 'getInitialState').mockImplementation(studyStore.getState)
})
afterEach(() => {
  vi.restoreAllMocks()
  studyStore.setState(EMPTY)
})

test('what was deleted is listed until it is gone', () => {
  expect(renderToStaticMarkup(<DeletedStudies />)).toBe('')
  const kept = (name: string) => {
    const study = { ...studyOf(), name }
    return { id: name, study, is_open: false, is_training: false, changes: [] }
  }
  const deleted = [kept('one'), kept('two')]
  studyStore.setState({ deleted, justDeleted: deleted[0] })
  expect(renderToStaticMarkup(<UndoToast />)).toContain('“one” deleted.')
  studyStore.setState({ justDeleted: undefined })
  expect(renderToStaticMarkup(<UndoToast />)).not.toContain('Undo')
  const list = renderToStaticMarkup(<DeletedStudies />)
  expect(list).toContain('2 studies deleted')
  for (const name of ['one', 'two']) expect(list).toContain(`Bring “${name}” back`)
})
