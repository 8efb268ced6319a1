// The words that two versions of a text do not share are found, and nothing of a text is lost.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { changedWords, type WordRun } from './changed_words.ts'

const textOf = (runs: readonly WordRun[]) => runs.map(({ text }) => text).join('')

test('a word in the middle and an end that differ are marked, the rest is not', () => {
  const { before, after } = changedWords(
    ' Mia was very sad. She went home and cried.',
    ' Mia was very happy. She went home.',
  )
  expect(before).toEqual([
    { text: ' Mia was very', isChanged: false },
    { text: ' sad.', isChanged: true },
    { text: ' She went', isChanged: false },
    { text: ' home and cried.', isChanged: true },
  ])
  expect(after).toEqual([
    { text: ' Mia was very', isChanged: false },
    { text: ' happy.', isChanged: true },
    { text: ' She went', isChanged: false },
    { text: ' home.', isChanged: true },
  ])
})

test('equal texts have no change, and texts without a common word are changed whole', () => {
  expect(changedWords('a b', 'a b').after).toEqual([{ text: 'a b', isChanged: false }])
  expect(changedWords('a', 'b c').after).toEqual([{ text: 'b c', isChanged: true }])
  expect(changedWords('', 'b').before).toEqual([])
})

test('a word alone between changes is marked with them', () => {
  const { after } = changedWords('He saw the bird in a tree.', 'She took the cup in a box.')
  expect(after).toEqual([
    { text: 'She took the cup', isChanged: true },
    { text: ' in a', isChanged: false },
    { text: ' box.', isChanged: true },
  ])
})

test('joined, the runs are the texts, and both share the same words', () => {
  const text = fc
    .array(fc.constantFrom('a', 'b', 'c', ' ', '\n', '. '), { maxLength: 30 })
    .map((parts) => parts.join(''))
  fc.assert(
    fc.property(text, text, (a, b) => {
      const { before, after } = changedWords(a, b)
      expect([textOf(before), textOf(after)]).toEqual([a, b])
      const shared = (runs: readonly WordRun[]) =>
        textOf(runs.filter(({ isChanged }) => !isChanged))
      expect(shared(before)).toBe(shared(after))
    }),
  )
})
