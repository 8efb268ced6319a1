import { expect, test } from 'vitest'
import type { PageError } from '../../page/state/report.ts'
import { MAX_ERROR_LENGTH, MAX_ERRORS, withError } from './report.ts'

test('errors are few and short, and a repetition is one', () => {
  let errors: readonly PageError[] = []
  for (let i = 0; i < 30; i++)
    errors = withError(errors, i, `error ${i % 2 ? i : i + 1}`.repeat(90))
  expect(errors).toHaveLength(MAX_ERRORS)
  expect(new Set(errors.map(({ message }) => message)).size).toBe(MAX_ERRORS)
  expect(Math.max(...errors.map(({ message }) => message.length))).toBe(MAX_ERROR_LENGTH)
  expect(withError(errors, 99, '')).toBe(errors)
})
