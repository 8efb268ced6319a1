import { expect, test } from 'vitest'
import { stepsProblem } from './typed_steps.ts'

test('what is no number of steps is said in words while it is typed', () => {
  for (const typed of ['1', ' 12 ', '100000']) expect(stepsProblem(typed)).toBeUndefined()
  expect(stepsProblem('0')).toBe('A phase has at least 1 step.')
  expect(stepsProblem('-3')).toBe('A phase has at least 1 step.')
  expect(stepsProblem('1.5')).toBe('Steps are counted in whole numbers.')
  expect(stepsProblem('1e9')).toBe('A phase has at most 100000 steps.')
  expect(stepsProblem('  ')).toBe('How many steps?')
})
