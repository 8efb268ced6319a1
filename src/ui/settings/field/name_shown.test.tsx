import { renderToStaticMarkup } from 'react-dom/server'
import { afterEach, expect, test } from 'vitest'
import { translateWith } from '../../kit/translator.ts'
import { translateProps } from '../../language/element_translator.ts'
import { allTexts } from '../../language/testing.ts'
import { NameShown } from '../Field.tsx'

afterEach(() => translateWith(undefined))

test('a name that the page gave stands beside its field in the language of the page', () => {
  const shown = (value: string) => renderToStaticMarkup(<NameShown path="name" value={value} />)
  const name = 'First run: an inner layer, then all'
  expect(shown(name)).toBe('')
  const texts = allTexts()
  const text = (english: string) => texts.translate(english)
  translateWith({
    locale: 'zh-CN',
    text,
    props: (type, props) => translateProps(type, props, text),
  })
  expect(shown(name)).toContain('显示为“第一次运行：先一个内部层，再全部”。')
  expect(shown('我的实验')).toBe('')
})
