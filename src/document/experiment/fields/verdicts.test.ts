import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Verdict } from '../../../rl/config/phase.ts'
import { readVerdicts, writeVerdicts } from './verdicts.ts'

test('a letter each, and the step before those that came later', () => {
  const verdicts: Verdict[] = [
    { choice: 'a', step: 0 },
    { choice: 'skip', step: 0 },
    { choice: 'b', step: 3 },
    { choice: 'undo', step: 3 },
    { choice: 'a', step: 12 },
  ]
  expect(writeVerdicts(verdicts)).toBe('as3bu12a')
  expect(readVerdicts('as3bu12a')).toEqual(verdicts)
  expect(readVerdicts('')).toEqual([])
})

test('what was written is read back', () => {
  const choice = fc.constantFrom('a', 'b', 'skip', 'undo')
  fc.assert(
    fc.property(fc.array(fc.tuple(choice, fc.nat({ max: 5 }))), (said) => {
      let step = 0
      const verdicts = said.map(([choice, later]) => {
        step += later
        return { choice, step } as Verdict
      })
      expect(readVerdicts(writeVerdicts(verdicts))).toEqual(verdicts)
    }),
    { numRuns: 100, seed: 1 },
  )
})

test('any other text is refused', () => {
  for (const text of ['c', 'a b', '3', 'ab3', '0a', '5a3b', 'a3a3b', 'a1e3b', '-1a', '9999999a'])
    expect(readVerdicts(text), text).toBeUndefined()
})
