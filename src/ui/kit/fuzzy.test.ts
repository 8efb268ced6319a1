import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { fuzzyMatch, markedParts, ranked } from './fuzzy.ts'

const names = (query: string, items: readonly string[]) =>
  ranked(query, items, (text) => ({ text })).map(({ item }) => item)

test('the start of a name comes before the start of a word, and that before the middle of one', () => {
  expect(names('re', ['Next phase, reset', 'Warm restart', 'Reset', 'Prepare'])).toEqual([
    'Reset',
    'Warm restart',
    'Next phase, reset',
    'Prepare',
  ])
})

test('initials find a name, scattered letters do not', () => {
  expect(names('cl', ['Copy link', 'Accelerate', 'Cosine length'])).toEqual([
    'Copy link',
    'Cosine length',
  ])
  expect(names('lrt', ['Learning rate'])).toEqual([])
  expect(names('cpl', ['Copy link'])).toEqual([])
  expect(names('col', ['Copy link'])).toEqual(['Copy link'])
})

test('every word must be found, in any order; other words of an item count for less', () => {
  expect(names('rate learning', ['Learning rate', 'Learning curve'])).toEqual(['Learning rate'])
  const items = [
    { text: 'Step size', also: 'learning rate lr' },
    { text: 'lr warm-up steps', also: '' },
  ]
  const found = ranked('lr', items, (item) => item).map(({ item }) => item.text)
  expect(found).toEqual(['lr warm-up steps', 'Step size'])
})

test('of equals the shorter name is first, and nothing typed finds all in their order', () => {
  expect(names('train', ['Train the critic', 'Train'])).toEqual(['Train', 'Train the critic'])
  expect(fuzzyMatch('', 'b')?.marks).toEqual([])
})

test('what was found is marked', () => {
  const marks = fuzzyMatch('rate lear', 'Learning rate')?.marks ?? []
  expect(markedParts('Learning rate', marks)).toEqual([
    { text: 'Lear', isMarked: true },
    { text: 'ning ', isMarked: false },
    { text: 'rate', isMarked: true },
  ])
})

test('the parts are the text again, whatever is typed', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (query, text) => {
      const marks = fuzzyMatch(query, text)?.marks ?? []
      const parts = markedParts(text, marks)
      expect(parts.map((part) => part.text).join('')).toBe(text)
    }),
  )
})
