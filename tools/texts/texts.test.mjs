import { expect, test } from 'vitest'
import { compare, readCatalogues, readPage } from './catalogues.mjs'
import { textsIn } from './read_texts.mjs'

test('every text of the page has a translation, and every translation its text', () => {
  const advice = 'run npm run texts, and translate what it left empty in src/ui/language/zh'
  expect(compare(readPage(), readCatalogues()), advice).toEqual({
    unlisted: [],
    unused: [],
    broken: [],
    missing: [],
  })
})
