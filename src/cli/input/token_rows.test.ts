import { expect, test } from 'vitest'
import { readOptions } from '../probe.ts'
import { parseTokenRows } from './token_rows.ts'

const read = (value: unknown) =>
  parseTokenRows(typeof value === 'string' ? value : JSON.stringify(value), 'ids.json', {
    vocab_size: 10,
    pad_token_id: 9,
  })

test('one list is one row', () => {
  expect(read([4, 0, 9])).toEqual({
    input_ids: [[4, 0, 9]],
    attention_mask: [[1, 1, 1]],
    position_ids: [[0, 1, 2]],
  })
})

test('rows of different lengths are padded on the left', () => {
  const expected = {
    input_ids: [
      [1, 2, 3],
      [9, 9, 4],
    ],
    attention_mask: [
      [1, 1, 1],
      [0, 0, 1],
    ],
    position_ids: [
      [0, 1, 2],
      [0, 0, 0],
    ],
  }
  expect(read([[1, 2, 3], [4]])).toEqual(expected)
  expect(read({ input_ids: [[1, 2, 3], [4]] })).toEqual(expected)
})

test('an attention_mask says itself what is padding, on either side', () => {
  const input_ids = [
    [0, 1, 2, 3],
    [5, 6, 0, 0],
  ]
  const attention_mask = [
    [0, 1, 1, 1],
    [1, 1, 0, 0],
  ]
  expect(read({ input_ids, attention_mask })).toEqual({
    input_ids,
    attention_mask,
    position_ids: [
      [0, 0, 1, 2],
      [0, 1, 1, 1],
    ],
  })
  expect(read({ input_ids: [1, 2], attention_mask: [0, 1] }).position_ids).toEqual([[0, 0]])
})

test.for([
  ['{', /^ids.json: not JSON/],
  ['"1 2"', /^ids.json: ids: expected a list of token ids or a list of such lists, found "1 2"/],
  ['null', /found null/],
  ['[]', /ids: expected .*, found an empty list/],
  ['[[1], []]', /row 1: expected token ids, found an empty list/],
  ['[[1], 2]', /found lists and single ids side by side/],
  ['[[1, 2], [3, 10]]', /row 1, column 1: expected a token id below vocab_size 10, found 10/],
  ['[1, -1]', /row 0, column 1: .* found -1/],
  ['[1.5]', /column 0: .* found 1.5/],
  ['["1"]', /column 0: .* found "1"/],
  ['[[[1]]]', /column 0: .* found \[1\]/],
  ['{"ids": [1]}', /input_ids: expected .*, found nothing/],
  [
    '{"input_ids": [1, 2], "attention_mask": [1]}',
    /attention_mask, row 0: expected 2 values, found 1/,
  ],
  [
    '{"input_ids": [1], "attention_mask": [[1], [1]]}',
    /attention_mask: expected 1 rows like input_ids, found 2/,
  ],
  ['{"input_ids": [1], "attention_mask": [2]}', /row 0, column 0: expected 0 or 1, found 2/],
  ['{"input_ids": [1], "attention_mask": [0]}', /row 0: expected a 1 somewhere, found none/],
] as const)('%s is refused in words', ([text, message]) => {
  expect(() => read(text)).toThrow(message)
})

test('probe takes one folder and a file of tokens', () => {
  expect(readOptions(['dir', '--tokens', 'ids.json', '--out=f.json'])).toMatchObject({
    folder: 'dir',
    tokens: 'ids.json',
    out: 'f.json',
    text: '',
  })
  expect(() => readOptions(['--tokens', 'ids.json'])).toThrow('one model directory')
  expect(() => readOptions(['a', 'b', '--tokens', 'ids.json'])).toThrow('one model directory')
  expect(() => readOptions(['dir'])).toThrow('--tokens')
  const both = ['dir', '--tokens', 'ids.json', '--text', 'a']
  expect(() => readOptions(both)).toThrow('--tokens ids.json, or --text TEXT')
  expect(readOptions(['dir', '--text', '']).text).toBe('')
  expect(() => readOptions(['dir', '--token', 'x'])).toThrow(/--token/)
})
