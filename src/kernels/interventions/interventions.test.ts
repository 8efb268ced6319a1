import { expect, test } from 'vitest'
import { applyInterventionsRef } from './interventions.ref.ts'
import { KEEPS } from './interventions.ts'

/** Two places; the second has two entries on a state of two tokens and three columns. */
const at = (...entries: readonly number[][]) => [0, 0, 0, entries.length, ...entries.flat()]
const given = (table: readonly number[]) => ({
  table,
  values: [10, 20, 30, 40],
  chosen: [0, 1],
  base_a: [1, 1, 1, 1, 1, 1],
  base_b: [2, 2, 2, 2, 2, 2],
  state: [5, 5, 5, 6, 6, 6],
})
const PARAMS = { tokens: 2, cols: 3, places: 2, mask_tokens: 2, mask_stride: 1, mask_offset: 0 }

test('a place without entries is left as it is', () => {
  const table = at([0, 3, KEEPS.nothing, 0, 0, 0, 0, 0])
  expect([...applyInterventionsRef(given(table), { ...PARAMS, place: 0 })]).toEqual(
    given(table).state,
  )
})

test('entries replace columns, add to a base or to what is there, at all tokens or at some', () => {
  const run = (...entries: readonly number[][]) => [
    ...applyInterventionsRef(given(at(...entries)), { ...PARAMS, place: 1 }),
  ]
  expect(run([1, 2, KEEPS.nothing, 0, 0, 0, 0, 0])).toEqual([5, 10, 20, 6, 10, 20])
  expect(run([0, 1, KEEPS.base_a, 1, 0, 1, 0, 0])).toEqual([5, 5, 5, 21, 6, 6])
  // Values of each token, then one more on top of them.
  const each = [0, 2, KEEPS.base_b, 0, 2, 0, 0, 0]
  const more = [1, 1, KEEPS.state, 0, 0, 0, 0, 0]
  expect(run(each, more)).toEqual([12, 32, 5, 32, 52, 6])
})
