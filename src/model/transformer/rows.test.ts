import { expect, test } from 'vitest'
import { testBatch } from '../testing.ts'
import { layRows, type Rows } from './rows.ts'

const LENGTHS = [
  { prompt: 2, response: 3 },
  { prompt: 3, response: 1 },
]
const SIZE = { rows: 2, width: 7, response_length: 4 }
const BATCH = testBatch(LENGTHS, { P: 3, R: 4, vocab_size: 50, seed: 1 })

const entries = (scored: Uint32Array) =>
  Array.from({ length: scored.length / 4 }, (_, i) => [...scored.subarray(4 * i, 4 * i + 4)])

test('with padding the stream is the rows, and states are columns', () => {
  const stream = layRows(BATCH, SIZE, false)
  expect(stream.tokens).toBe(14)
  expect(stream.input_ids).toEqual(BATCH.input_ids)
  expect(stream.attention_mask).toEqual(BATCH.attention_mask)
  expect(stream.position_ids).toEqual(BATCH.position_ids)
  expect([...stream.cu_seqlens]).toEqual([0, 7, 14])
  const scored = entries(stream.scored).filter(([, , , isScored]) => isScored === 1)
  const id = BATCH.response_ids
  expect(scored).toEqual([
    [2, 0, id[0], 1],
    [3, 1, id[1], 1],
    [4, 2, id[2], 1],
    [9, 4, id[4], 1],
  ])
})

test('without padding the real tokens move together, in order, and nothing else is counted', () => {
  const stream = layRows(BATCH, SIZE, true)
  expect(stream.tokens).toBe(2 + 3 + 3 + 1)
  const real = [...BATCH.input_ids].filter((_, i) => BATCH.attention_mask[i])
  expect([...stream.input_ids]).toEqual([...real, 0, 0, 0, 0, 0])
  expect([...stream.position_ids.subarray(0, 9)]).toEqual([0, 1, 2, 3, 4, 0, 1, 2, 3])
  expect([...stream.attention_mask]).toEqual([1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0])
  expect([...stream.cu_seqlens]).toEqual([0, 5, 9])
  const scored = entries(stream.scored)
  // The prompt's last token predicts the first of the response.
  expect(scored.slice(0, 4).map(([state, slot]) => [state, slot])).toEqual([
    [1, 0],
    [2, 1],
    [3, 2],
    [7, 4],
  ])
  expect(scored.slice(4).every(([, , , isScored]) => isScored === 0)).toBe(true)
  expect(scored.map(([, slot]) => slot).sort()).toEqual([0, 1, 2, 3, 4, 5, 6, 7])
})

test('a row without a token takes no place', () => {
  const none = {
    ...BATCH,
    attention_mask: BATCH.attention_mask.map((m, i) => (i < 7 ? 0 : m)),
    response_mask: BATCH.response_mask.map((m, i) => (i < 4 ? 0 : m)),
  }
  const stream = layRows(none, SIZE, true)
  expect([stream.tokens, ...stream.cu_seqlens]).toEqual([4, 0, 0, 4])
})

test('arrays of other sizes and scored tokens behind padding are refused', () => {
  const change = (part: Partial<Rows>) => () => layRows({ ...BATCH, ...part }, SIZE, true)
  expect(change({ input_ids: new Uint32Array(13) })).toThrow(/expected 2 × 7 values, got 13/)
  expect(change({ response_ids: new Uint32Array(7) })).toThrow(/response_ids/)
  const attention_mask = BATCH.attention_mask.slice()
  attention_mask[3] = 0
  expect(change({ attention_mask })).toThrow(/response token 2 of row 0.*column 3/)
  const right = testBatch(LENGTHS, { P: 3, R: 4, vocab_size: 50, seed: 1 }, 'right')
  expect(() => layRows(right, SIZE, true)).toThrow(/row 0.*column 2/)
  expect(layRows(right, SIZE, false).tokens).toBe(14)
})
