import { renderToStaticMarkup } from 'react-dom/server'
import { afterEach, expect, test } from 'vitest'
import { translateWith } from '../../kit/translator.ts'
import { translateProps } from '../../language/element_translator.ts'
import { allTexts } from '../../language/testing.ts'
import { Unit, unitWords } from './Unit.tsx'

afterEach(() => translateWith(undefined))

test('a unit is said as what is counted', () => {
  expect(unitWords('responses')).toBe('responses')
  const texts = allTexts()
  const text = (english: string) => texts.translate(english)
  translateWith({ locale: 'zh-CN', text, props: (_, props) => props })
  expect(unitWords('responses')).toBe('个回答')
  expect(unitWords('prompts')).toBe('个提示')
  expect(unitWords('times the rate')).toBe('倍')
  expect(unitWords('steps')).toBe('步')
  expect(unitWords('different problems')).toBe('道不同的题目')
  expect(unitWords('')).toBe('')
})

test('a unit with a word of English in it is said once', () => {
  const texts = allTexts()
  const text = (english: string) => texts.translate(english)
  translateWith({
    locale: 'zh-CN',
    text,
    props: (type, props) => translateProps(type, props, text),
  })
  expect(renderToStaticMarkup(<Unit of="tokens" />)).toContain('>个 token<')
})
