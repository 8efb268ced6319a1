import { expect, test } from 'vitest'
import { givenRows } from './given_rows.ts'

test('fields of the plan are read as what they are', () => {
  const given = givenRows([
    'every_turn=true',
    'prompt_key=',
    'answer_key=a=b',
    'split_seed=3',
    'row_format=pairs',
  ])
  expect(given).toEqual({
    every_turn: true,
    prompt_key: null,
    answer_key: 'a=b',
    split_seed: 3,
    row_format: 'pairs',
  })
})

test.for<[string, RegExp]>([
  ['every_turn', /--rows: expected FIELD=VALUE with one of row_format, .*got 'every_turn'/],
  ['train_size=3', /--rows: expected FIELD=VALUE/],
  ['every_turn=yes', /--rows: every_turn: expected/],
  ['row_format=rows', /--rows: row_format: expected 'answers'/],
])('%s is refused', ([setting, why]) => {
  expect(() => givenRows([setting])).toThrow(why)
})
