// What an open study says before it is trained.
import { renderToStaticMarkup } from 'react-dom/server'
import { afterEach, expect, test, vi } from 'vitest'
import { armsOf, DOCUMENT, studyOf } from '../../document/study/testing.ts'
import { EMPTY, studyStore } from '../../page/study/study_state.ts'
import { StudyView } from './StudyView.tsx'

afterEach(() => vi.restoreAllMocks())

test('too few seeds are named before they are trained, and enough are not', () => {
  const said = (seeds: readonly number[]) => {
    const document = { ...DOCUMENT, seeds }
    const study = studyOf(document)
    const state = { ...EMPTY, study, arms: armsOf(document) }
    vi.spyOn(studyStore, 'getInitialState').mockReturnValue(state)
    return renderToStaticMarkup(<StudyView study={study} />)
  }
  expect(said([1, 2])).toContain('too few seeds to answer: every arm needs at least 3.')
  expect(said([1, 2, 3])).not.toContain('study-answer')
})

test('while its recorded runs are loaded a study says so, and offers nothing', () => {
  const study = studyOf(DOCUMENT)
  const state = { ...EMPTY, study, arms: armsOf(DOCUMENT), isLoading: true }
  vi.spyOn(studyStore, 'getInitialState').mockReturnValue(state)
  const html = renderToStaticMarkup(<StudyView study={study} />)
  expect(html).toContain('Loading its recorded runs')
  expect(html).not.toContain('study-progress')
  expect(html).not.toContain('study-buttons')
})
