import { expect, test } from 'vitest'
import { TINY } from '../testing.ts'
import { parseInterventions } from './intervention.ts'

const vector = (n: number) => Array.from({ length: n }, () => 1)
const parse = (...entries: unknown[]) => parseInterventions(entries, TINY, 6)
const block = { where: 'block', layer: 1, what: 'zero' }

test('every kind of change is read as it is', () => {
  const list = [
    block,
    { where: 'head', layer: 3, head: 3, what: 'value', value: vector(8), positions: [0, 5] },
    { where: 'residual', layer: 0, what: 'add', value: vector(20), strength: -2 },
    { where: 'attention', layer: 2, what: 'mean' },
    { where: 'residual', layer: 2, what: 'add', toward: ['a', [1, 2]], away: ['b'], strength: 3 },
    { where: 'feed_forward', layer: 2, what: 'patch', from: [1, 2, 3] },
    { where: 'residual', layer: 3, what: 'patch', from: 'a text' },
  ]
  expect(parse(...list)).toEqual(list)
  expect(parse()).toEqual([])
})

test.for([
  [
    { ...block, layer: 0 },
    'interventions[0].layer: expected a number of blocks from 1 to 3, as the model has, got 0',
  ],
  [{ ...block, layer: 4 }, '[0].layer: expected a number of blocks from 1 to 3'],
  [{ ...block, where: 'residual', layer: 4 }, 'blocks from 0 to 3'],
  [{ ...block, where: 'head' }, '[0].head: expected a query head from 0 to 3, got nothing'],
  [{ ...block, where: 'head', head: 4 }, 'a query head from 0 to 3, got 4'],
  [{ ...block, head: 1 }, '[0].head: expected none where not a head is changed, got 1'],
  [{ ...block, where: 'key_head', head: 1 }, '2 query heads share a key and a value here'],
  [
    { ...block, where: 'norm' },
    '[0].where: expected one of block, attention, feed_forward, head, residual, got "norm"',
  ],
  [
    { ...block, what: 'noise' },
    '[0].what: expected one of zero, mean, value, patch, add, got "noise"',
  ],
  [
    { ...block, positions: [6] },
    '[0].positions: expected a list of tokens from 0 to 5, as the text has, got [6]',
  ],
  [{ ...block, positions: [] }, '[0].positions: expected a list of tokens from 0 to 5'],
  [{ ...block, value: vector(20) }, '[0].value: expected none where what is zero'],
  [{ ...block, what: 'value', value: vector(19) }, '[0].value: expected a list of 20 numbers'],
  [{ ...block, what: 'add', value: [...vector(19), null] }, 'a list of 20 numbers'],
  [{ ...block, where: 'head', head: 0, what: 'value', value: vector(20) }, 'a list of 8 numbers'],
  [{ ...block, strength: 2 }, '[0].strength: expected none where what is zero, got 2'],
  [{ ...block, what: 'patch' }, '[0].from: expected a text or a list of token ids, got nothing'],
  [{ ...block, from: 'a' }, '[0].from: expected none where what is zero'],
  [
    { ...block, what: 'add', toward: ['a'] },
    '[0].away: expected a list of texts, or of lists of token ids, got nothing',
  ],
  [{ ...block, what: 'add', toward: ['a'], away: [] }, '[0].away: expected a list of texts'],
  [
    { ...block, what: 'add', toward: ['a'], away: ['b'], value: vector(20) },
    '[0].value: expected none beside toward and away',
  ],
  [{ ...block, toward: ['a'] }, '[0].toward: expected none where what is zero'],
  [
    { ...block, scale: 2 },
    '[0].scale: unknown; expected where, layer, head, positions, what, value, strength, from, toward, away',
  ],
  ['zero', '[0]: expected a record'],
] as const)('%j is refused', ([entry, problem]) => {
  expect(() => parse(entry)).toThrow(problem)
})

test('what is no list is refused', () => {
  expect(() => parseInterventions(block, TINY, 6)).toThrow('interventions: expected a list, got {')
})
