import { afterEach, expect, test } from 'vitest'
import { translateWith } from '../kit/translator.ts'
import { allTexts } from '../language/testing.ts'
import { termsInOrder } from './Glossary.tsx'

afterEach(() => translateWith(undefined))

test('terms stand in the order of their language, with their English names', () => {
  const english = termsInOrder().map(({ id }) => id)
  expect(english.indexOf('advantage')).toBeLessThan(english.indexOf('bupo'))
  const texts = allTexts()
  const text = (one: string) => texts.translate(one)
  translateWith({
    locale: 'zh-CN',
    text,
    props: (_, props) => props,
  })
  const chinese = termsInOrder().map(({ name }) => text(name))
  expect(chinese.indexOf('策略')).toBeLessThan(chinese.indexOf('熵'))
  expect(chinese.indexOf('熵')).toBeLessThan(chinese.indexOf('优势'))
})
