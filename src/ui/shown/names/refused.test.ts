import { expect, test } from 'vitest'
import { issuesWords, refusedWords } from './refused.ts'

test('a refusal names its field by its label, and begins with a capital', () => {
  expect(refusedWords('seed: expected a whole number, got 0.5')).toBe(
    'Seed: expected a whole number, got 0.5',
  )
  expect(refusedWords('expected at least one phase, got 0')).toBe(
    'Expected at least one phase, got 0',
  )
  expect(issuesWords([{ path: 'phases.0.steps', message: 'expected a whole number' }])).toEqual([
    'Phase 1: Steps: expected a whole number',
  ])
  expect(issuesWords([{ path: '', message: '0.5 is no whole number' }])).toEqual([
    '0.5 is no whole number',
  ])
})
