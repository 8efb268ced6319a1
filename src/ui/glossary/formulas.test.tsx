// Sets every formula of the lessons and of the glossary.
import { renderToStaticMarkup } from 'react-dom/server'
import temml from 'temml'
import { afterEach, expect, test } from 'vitest'
import { translateWith } from '../kit/translator.ts'
import { allTexts } from '../language/testing.ts'
import { LESSONS } from '../lessons/lessons.ts'
import { Formula } from '../lessons/parts/Formula.tsx'
import { TERMS } from './terms.ts'

afterEach(() => translateWith(undefined))

const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  '#x27': "'",
}

/** The TeX that a formula shows until it is set. */
const shown = (markup: string): string[] =>
  [...markup.matchAll(/<code data-awaits="true">(.*?)<\/code>/gs)].map(([, tex]) =>
    tex.replace(/&(#?\w+);/g, (_, name) => ENTITIES[name]),
  )

async function everyFormula(): Promise<string[]> {
  const contents = await Promise.all(LESSONS.map(({ load }) => load()))
  const pages = [
    ...contents.map(({ Body }) => <Body key="body" />),
    ...TERMS.map(({ id, tex }) => (tex === undefined ? null : <Formula key={id} tex={tex} />)),
  ]
  return pages.flatMap((page) => shown(renderToStaticMarkup(page)))
}

test.each(['English', 'Chinese'])('every formula can be set, in %s', async (language) => {
  const texts = allTexts()
  if (language === 'Chinese')
    translateWith({
      locale: 'zh-CN',
      text: (one) => texts.translate(one),
      props: (_, props) => props,
    })
  const all = await everyFormula()
  expect(all.length).toBeGreaterThan(60)
  const wrong = all.filter((tex) => {
    try {
      return temml.renderToString(tex, { throwOnError: true }) === ''
    } catch {
      return true
    }
  })
  expect(wrong).toEqual([])
  expect(() => temml.renderToString('\\frac{1', { throwOnError: true })).toThrow()
})
