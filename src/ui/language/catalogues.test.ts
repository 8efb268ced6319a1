// Asks of every text of the catalogues that it is found again in what the page makes from it.
import { expect, test } from 'vitest'
import { TextTranslator } from './text_translator.ts'

const CATALOGUES = import.meta.glob<Readonly<Record<string, string>>>('./zh/*.json', {
  eager: true,
  import: 'default',
})
/** Two values side by side, or one behind a point: no value of these tests shows where it ends. */
const IS_UNSURE = /\}\{|\.\{/
const VALUES = ['a.csv', 'b_c', 'X9', 'd/e', 'f.g', 'H', 'i_j', 'k.l', 'm_n', 'O']

const filled = (text: string) => text.replace(/\{(\d+)\}/g, (_, i) => VALUES[Number(i)])

test('every text is found again by what is made from it', () => {
  const catalogues = Object.values(CATALOGUES)
  const said = new Map(catalogues.flatMap((one) => Object.entries(one).filter(([, to]) => to)))
  const texts = new TextTranslator({
    say: (key, values = []) =>
      said.get(key)?.replace(/\{(\d+)\}/g, (_, i) => values[Number(i)] ?? ''),
  })
  for (const one of catalogues) texts.learn(Object.keys(one).filter((key) => one[key] !== ''))
  const bare = (text: string) => text.replace(/\s/g, '')
  const lost = [...said.keys()].filter(
    (key) =>
      !IS_UNSURE.test(key) &&
      bare(texts.translate(filled(key))) !== bare(filled(said.get(key) ?? '')),
  )
  expect(lost).toEqual([])
  expect(said.size).toBeGreaterThan(5000)
})
