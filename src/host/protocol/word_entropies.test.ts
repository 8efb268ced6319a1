// Entropies are put to the words that their tokens are parts of.
import { expect, test } from 'vitest'
import type { TracedSample } from './results.ts'
import { wordEntropies } from './word_entropies.ts'

const sample = (tokens: readonly string[], entropy: readonly number[]): TracedSample => ({
  prompt: 'Once there was a small fox named Pip. He had a red kite.',
  response: tokens.filter((token) => token !== '<eos>').join(''),
  ground_truth: '',
  score: 1,
  is_ended: true,
  tokens,
  columns: { entropy },
  group: { rewards: [1], lengths: [tokens.length], place: 0 },
})

test('a word of two tokens counts twice, a space with the word behind it, the end token not', () => {
  const found = wordEntropies([
    sample([' P', 'ip', ' was', ' very', ' happy', '.', '<eos>'], [4, 2, 1, 0.5, 3, 0.25, 9]),
    sample([' Pip', ' was', ' ', 'glad', '.'], [6, 3, 1, Number.NaN, 0.75]),
  ])
  const row = (kind: string) => found.find((own) => own.kind === kind)
  expect(row('name')).toMatchObject({ tokens: 3, mean: 4 })
  expect(row('verb')).toMatchObject({ tokens: 2, mean: 2 })
  expect(row('feeling')).toMatchObject({ tokens: 1, mean: 3 })
  expect(row('mark')).toMatchObject({ tokens: 2, mean: 0.5 })
  expect(row('other')).toMatchObject({ tokens: 1, mean: 0.5 })
  expect(row('noun')).toMatchObject({ tokens: 0, mean: undefined })
  expect(row('ending')).toMatchObject({ tokens: 0, mean: undefined })
})
