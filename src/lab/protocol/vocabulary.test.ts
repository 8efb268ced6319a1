import { expect, test } from 'vitest'
import { newModelWords, otherVocabulary, vocabularyOf } from './vocabulary.ts'

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
