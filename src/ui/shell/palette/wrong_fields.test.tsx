import { renderToStaticMarkup } from 'react-dom/server'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { initialState, labStore } from '../../../page/state/store.ts'
import { translateWith } from '../../kit/translator.ts'
import { translateProps } from '../../language/element_translator.ts'
import { allTexts } from '../../language/testing.ts'
import { WrongFields } from './WrongFields.tsx'

beforeEach(() => {
  vi.spyOn(labStore, 'getInitialState').mockImplementation(labStore.getState)
})
afterEach(() => {
  vi.restoreAllMocks()
  translateWith(undefined)
  labStore.setState(initialState(), true)
})

function said(
  text: string,
  status: 'idle' | 'running',
  field = { path: 'actor.optim.lr', label: 'Learning rate' },
): string {
  const wrong = { ...field, text, problem: 'wrong' }
  labStore.setState({ ...initialState(), status, wrongFields: [wrong] })
  return renderToStaticMarkup(<WrongFields />).replace(/<[^>]*>/g, '')
}

test('what is wrong is one sentence, and what was typed stands in it as it is', () => {
  expect(said('99', 'idle')).toBe('Train is off: Learning rate cannot be 99.')
  expect(said('-3', 'idle')).toBe('Train is off: Learning rate cannot be −3.')
  expect(said(' ', 'running')).toBe('The run has the values from before: Learning rate is empty.')
})

test('a choice is said by its name', () => {
  const task = { path: 'task.id', label: 'Task' }
  expect(said('roman_numerals', 'idle', task)).toBe('Train is off: Task cannot be Roman numerals.')
})

test('it is one sentence in Chinese too', () => {
  const texts = allTexts()
  const text = (english: string) => texts.translate(english)
  translateWith({
    locale: 'zh-CN',
    text,
    props: (type, props) => translateProps(type, props, text),
  })
  expect(said('99', 'idle')).toBe('无法训练：学习率不能是 99。')
  expect(said('steps', 'idle')).toBe('无法训练：学习率不能是 steps。')
  expect(said('', 'idle')).toBe('无法训练：学习率为空。')
  expect(said('99', 'running')).toBe('运行仍用之前的值：学习率不能是 99。')
})
