// What is refused is said beside what asked for it.
import { renderToStaticMarkup } from 'react-dom/server'
import { expect, test, vi } from 'vitest'
import { type OpenedModelState, openedModelStore } from '../../../page/opened/opened_model.ts'
import { forgetProblem } from './chat/AskedProblem.tsx'
import { ModelView } from './ModelView.tsx'

const PROBLEM = 'It is larger than the memory.'

/** What is drawn before and after the words of the problem, as text. */
function around(askedBy: OpenedModelState['askedBy']): readonly string[] {
  const state = { ...openedModelStore.getState(), problem: PROBLEM, askedBy }
  vi.spyOn(openedModelStore, 'getInitialState').mockReturnValue(state)
  const html = renderToStaticMarkup(<ModelView />)
  expect(html.match(/role="alert"/g)).toHaveLength(1)
  return html.replaceAll(/<[^>]*>/g, ' ').split(PROBLEM)
}

test('the problem of a way to open a model stands in that way, else at the top', () => {
  const folder = around('folder')
  expect(folder).toHaveLength(2)
  expect(folder[0]).toContain('Open a folder')
  const [before, after] = around('address')
  expect(before).toContain('Look for it')
  expect(after).toContain('Open a folder')
  const shipped = around('shipped')
  expect(shipped[0]).toContain('Comes with the page')
  expect(shipped[1]).toContain('Look for it')
  // Nobody asked here, or who asked is gone with the model.
  expect(around(undefined)[1]).toContain('Comes with the page')
  expect(around('writing')[1]).toContain('Comes with the page')
})

test('what is wrong with a text is forgotten as another is typed, and nothing else is', () => {
  const left = (askedBy: OpenedModelState['askedBy']) => {
    openedModelStore.setState({ problem: PROBLEM, askedBy })
    forgetProblem(['text', 'writing'])
    return openedModelStore.getState().problem
  }
  expect(left('writing')).toBeUndefined()
  expect(left('text')).toBeUndefined()
  expect(left('folder')).toBe(PROBLEM)
  expect(left(undefined)).toBe(PROBLEM)
  openedModelStore.setState({ problem: undefined })
})
