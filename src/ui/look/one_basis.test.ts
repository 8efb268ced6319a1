import { expect, test } from 'vitest'
import type { Observation } from '../../host/protocol/observation.ts'
import { onOneBasis } from './one_basis.ts'

const observation = (rows: Observation['rows'], mean: Observation['mean']): Observation => ({
  ...(rows && { rows }),
  num_hidden_layers: 2,
  tokens: rows === 'held_out' ? 5 : 100,
  mean,
  std: {},
  layer: 1,
  lenses: [],
  cost_ms: {},
})

test('a look leaves the run’s own numbers of that step, and adds what is new', () => {
  const own = observation('responses', { dH_ffn: [1, 2], cos_attn: [3, 4] })
  const looked = { ...observation('held_out', { dH_ffn: [5, 6] }), cost_ms: { lens: 1 } }
  expect(onOneBasis(own, looked)).toEqual({ ...own, cost_ms: { lens: 1 } })
  // What the run did not measure is only to be had from the look.
  const more = observation('held_out', { ent_ffn_out: [5, 6] })
  expect(onOneBasis(own, more)).toBe(more)
  const same = observation('responses', { dH_ffn: [5, 6] })
  expect(onOneBasis(own, same)).toBe(same)
  expect(onOneBasis(undefined, looked)).toBe(looked)
})
