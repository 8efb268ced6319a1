import { expect, test } from 'vitest'
import { scoredEntries } from './scored.ref.ts'
import { listScored, listScoredAt } from './scored.ts'

const size = { rows: 2, width: 5, first_column: 1, response_length: 3 }
const ids = [10, 11, 12, 20, 21, 22]
const entries = (list: Uint32Array) =>
  Array.from({ length: list.length / 4 }, (_, i) => [...list.subarray(i * 4, i * 4 + 4)])

test('token t of row b is predicted by state b·width + first_column + t, in row-major order', () => {
  expect(entries(listScored(size, ids, [1, 1, 1, 1, 1, 1]))).toEqual([
    [1, 0, 10, 1],
    [2, 1, 11, 1],
    [3, 2, 12, 1],
    [6, 3, 20, 1],
    [7, 4, 21, 1],
    [8, 5, 22, 1],
  ])
})

test('masked tokens come last, and every slot once', () => {
  expect(entries(listScored(size, ids, [1, 0, 0, 1, 1, 0]))).toEqual([
    [1, 0, 10, 1],
    [6, 3, 20, 1],
    [7, 4, 21, 1],
    [0, 1, 11, 0],
    [0, 2, 12, 0],
    [0, 5, 22, 0],
  ])
})

test('packed rows start wherever they start; one without scored tokens starts nowhere', () => {
  const list = listScoredAt([7, -1, 2], 2, ids, [1, 1, 0, 0, 1, 0])
  expect(entries(list)).toEqual([
    [7, 0, 10, 1],
    [8, 1, 11, 1],
    [2, 4, 21, 1],
    [0, 2, 12, 0],
    [0, 3, 20, 0],
    [0, 5, 22, 0],
  ])
  expect(scoredEntries({ tokens: 6, scored: list })).toEqual([
    { state: 7, slot: 0, id: 10 },
    { state: 8, slot: 1, id: 11 },
    { state: 2, slot: 4, id: 21 },
  ])
})

test('a batch without rows has an empty list', () => {
  expect(listScoredAt([], 3, [], [])).toEqual(new Uint32Array(0))
})

test('arrays of another length, responses outside of their row and states that are none are refused', () => {
  const ones = [1, 1, 1, 1, 1, 1]
  expect(() => listScored(size, ids.slice(1), ones)).toThrow('expected 6 response_ids, got 5')
  expect(() => listScored(size, ids, [...ones, 1])).toThrow('expected 6 response_mask, got 7')
  expect(() => listScoredAt([0], 3, ids, ones)).toThrow(RangeError)
  expect(() => listScored({ ...size, width: 3 }, ids, ones)).toThrow(
    new RangeError('listScored: expected columns 1 to 3 to lie in a row of 3'),
  )
  for (const first of [-1, 0.5, Number.NaN])
    expect(() => listScoredAt([0, first], 3, ids, ones)).toThrow(
      new RangeError(`listScored: expected first_states[1] to be a row of hidden, got ${first}`),
    )
})
