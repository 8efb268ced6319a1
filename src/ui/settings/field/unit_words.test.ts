import { afterEach, expect, test } from 'vitest'
import { translateWith } from '../../kit/translator.ts'
import { allTexts } from '../../language/testing.ts'
import { unitWords } from './unit_words.ts'

afterEach(() => translateWith(undefined))

test('a unit is said as what is counted', () => {
  expect(unitWords('responses')).toBe('responses')
  const texts = allTexts()
  const text = (english: string) => texts.translate(english)
  translateWith({ locale: 'zh-CN', text, props: (_, props) => props })
  expect(unitWords('responses')).toBe('个回答')
  expect(unitWords('prompts')).toBe('个提示')
  expect(unitWords('steps')).toBe('步')
  expect(unitWords('')).toBe('')
})
