import { expect, test } from 'vitest'
import { unitOf } from './unit.ts'

test('the words of a chart name the unit of its axis, or none', () => {
  expect(unitOf('nats per token, over one update')).toBe('nats')
  expect(unitOf('Nats, from 0 (certain of one token) to ln V.')).toBe('nats')
  expect(unitOf('cross-entropy of demonstrations, nats per token')).toBe('nats')
  expect(unitOf('tokens, end token included')).toBe('tokens')
  expect(unitOf('tokens per second, of prompts and responses')).toBe('tok/s')
  expect(unitOf('seconds, of every step')).toBe('s')
  expect(unitOf('share of tokens whose ratio was clipped')).toBeUndefined()
  expect(unitOf('of the better response minus the other; beta times nats')).toBeUndefined()
})
