import { expect, test } from 'vitest'
import { BATCH, ofProbe, READ, reads, tokensOf } from './reads.ts'

test('a figure says how it reads the layers, and whose tokens it is of', () => {
  expect(reads(READ.raw, BATCH)).toBe('Raw state · response tokens in the training batch')
  expect(reads(READ.raw, ofProbe(64))).toBe('Raw state · up to 64 responses, after the update')
  expect(reads(READ.both, tokensOf('held_out'))).toBe(
    'Raw state and normed state · right held-out answers',
  )
})

test('an old record that does not say whose tokens it is of says how it was read alone', () => {
  expect(reads(READ.normed, tokensOf(undefined))).toBe('Normed state')
  expect(tokensOf('a later kind' as 'responses')).toBe('')
})
