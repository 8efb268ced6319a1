import { renderToStaticMarkup } from 'react-dom/server'
import { expect, test } from 'vitest'
import { translateWith } from '../kit/translator.ts'
import { Glossary } from './Glossary.tsx'

test('the head of a term that has no other name in the language says it once', () => {
  const names: Readonly<Record<string, string>> = { Token: 'token', Ratio: '比率' }
  const text = (english: string) => names[english] ?? english
  translateWith({ locale: 'zh-CN', text, props: (_, props) => props })
  const drawn = renderToStaticMarkup(<Glossary />)
  translateWith(undefined)
  const heads = drawn.match(/<h3>.*?<\/h3>/g)?.map((head) => head.replace(/<[^>]*>/g, ''))
  expect(heads).toContain('Token')
  expect(heads).toContain('Ratio Ratio')
})
