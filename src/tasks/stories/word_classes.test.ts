// Words of a story are sorted by kind, at their places; the sentence that ends it is found.
import { expect, test } from 'vitest'
import { BEATS } from './tell.ts'
import { wordClassesOf } from './word_classes.ts'
import { VERBS } from './words/verbs.ts'

const PROMPT = 'Once there was a small fox named Pip. He had a red kite.'
const RESPONSE =
  ' One day, the kite broke. Then an owl named Ruby came by. "I broke my kite," said Pip. Ruby worked all day with a hammer. Soon the kite was as good as new. Pip was very happy. That night Pip slept well.'

const found = wordClassesOf(PROMPT, RESPONSE)
const wordsOf = (kind: string) =>
  found.filter((own) => own.kind === kind).map(({ start, end }) => RESPONSE.slice(start, end))

test('each word has its kind', () => {
  expect(wordsOf('name')).toEqual(['Ruby', 'Pip', 'Ruby', 'Pip', 'Pip'])
  expect(wordsOf('verb')).toEqual('broke named came broke said worked was was slept'.split(' '))
  expect(wordsOf('noun')).toEqual(['kite', 'owl', 'kite', 'hammer', 'kite'])
  expect(wordsOf('feeling')).toEqual(['happy'])
  expect(wordsOf('mark')).toHaveLength(7)
  expect(wordsOf('other')).toContain('Then')
})

test('the sentence that ends the story is told apart, and there is none without an end', () => {
  const ending = found.filter(({ isEnding }) => isEnding)
  expect(ending.map(({ start, end }) => RESPONSE.slice(start, end)).join(' ')).toBe(
    'That night Pip slept well .',
  )
  const open = wordClassesOf(PROMPT, RESPONSE.slice(0, RESPONSE.indexOf(' That night')))
  expect(open.some(({ isEnding }) => isEnding)).toBe(false)
})

test('every verb stands in a sentence, and once in the list', () => {
  const all = Object.values(BEATS).flatMap((own) => own.map(({ text }) => text))
  const words = new Set(all.flatMap((text) => text.toLowerCase().match(/[a-z]+/g) ?? []))
  expect(VERBS.filter((verb) => !words.has(verb))).toEqual([])
  expect(new Set(VERBS).size).toBe(VERBS.length)
})
