import { expect, test } from 'vitest'
import { firstSentence } from './Fold.tsx'

test('a closed fold says the first sentence of its note, in either language', () => {
  expect(firstSentence('Means are of 3.5 tokens. They may mislead.')).toBe(
    'Means are of 3.5 tokens.',
  )
  expect(firstSentence('在文本的每个位置。以及更多。')).toBe('在文本的每个位置。')
  expect(firstSentence('without an end')).toBe('without an end')
})
