import { renderToStaticMarkup } from 'react-dom/server'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Marked } from './Marked.tsx'
import { translateWith } from './translator.ts'

beforeAll(() => {
  const said = (text: string) => text.replace('clip', '裁剪')
  translateWith({
    locale: 'zh-CN',
    text: said,
    props: (_, props) => props,
  })
})
afterAll(() => translateWith(undefined))

test('a text is marked as it is given: it is not translated again', () => {
  const shown = (marks: [number, number][]) =>
    renderToStaticMarkup(<Marked text="actor.clip_ratio" marks={marks} />)
  expect(shown([[6, 10]])).toBe('actor.<mark>clip</mark>_ratio')
  expect(shown([])).toBe('actor.clip_ratio')
})
