import { expect, test } from 'vitest'
import { newModelWords, otherVocabulary, tokenId, vocabularyOf } from './vocabulary.ts'

const task = { id: 'sort_digits', length: 3 }
const { tokens } = vocabularyOf(task)

test('the vocabulary is the task’s, and its logarithm bounds every entropy', () => {
  expect(tokens.slice(0, 3)).toEqual(['<pad>', '<eos>', '0'])
  expect(vocabularyOf(task).max_entropy).toBe(Math.log(26))
})

test('a record’s own tokens come before those of the task', () => {
  expect(vocabularyOf(task, ['<pad>', '<eos>']).max_entropy).toBe(Math.log(2))
})

test('another vocabulary is refused with the difference and what to do', () => {
  expect(otherVocabulary(tokens, task)).toBeUndefined()
  expect(otherVocabulary(tokens.slice(1), task)).toMatch(
    /task sort_digits has \(25 tokens instead of 26\).*Begin with a new model/,
  )
  expect(otherVocabulary(tokens.with(4, 'x'), task)).toMatch(/token 4 is "x" instead of "2"/)
})

test('a task with other tokens begins with a new model, and says how many tokens it has', () => {
  expect(newModelWords(task, { id: 'bracket_completion' })).toBeUndefined()
  expect(newModelWords(task, { id: 'letter_counting' })).toMatch(
    /another vocabulary, 40 tokens instead of 26: a restart begins with a new model/,
  )
})

test('before the files of a data set are loaded only the size is compared', () => {
  const data = { id: 'dataset', data: '', tokenizer: 'bpe', vocab_size: 3 }
  expect(otherVocabulary(['<pad>', '<eos>', 'a'], data)).toBeUndefined()
  expect(otherVocabulary(['<pad>', '<eos>'], data)).toMatch(/2 tokens instead of 3/)
})

test('the id of a token is found by its text', () => {
  expect(tokenId(vocabularyOf(task), '0')).toBe(2)
  expect(tokenId(vocabularyOf(task), 'constructor')).toBeUndefined()
})

test('a vocabulary of 160,000 tokens is looked up in no time', () => {
  const many = vocabularyOf(
    task,
    Array.from({ length: 160_000 }, (_, id) => `token${id}`),
  )
  tokenId(many, 'token1')
  const start = performance.now()
  for (let id = 0; id < 10_000; id++) tokenId(many, `token${id}`)
  expect(performance.now() - start).toBeLessThan(500)
})

test('special tokens of a record are known by their names, or by the tokenizer where it is the same', () => {
  const tokens = ['<pad>', '<|im_end|>', '</s>', '[MASK]', '<think>', '<', '|', '<0xE2>', '<a|b>']
  const { special_tokens } = vocabularyOf({ id: 'sort_digits' }, tokens)
  expect([...special_tokens]).toEqual(['<pad>', '<|im_end|>', '</s>', '[MASK]'])
  const own = vocabularyOf({ id: 'sort_digits' })
  const same = vocabularyOf({ id: 'sort_digits' }, [...own.tokens])
  expect(same.special_tokens).toEqual(own.special_tokens)
})
