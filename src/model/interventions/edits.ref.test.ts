import { expect, test } from 'vitest'
import { TINY, testBatch, testWeights } from '../testing.ts'
import { forwardRef } from '../transformer/transformer.ref.ts'
import type { RefEdit } from './edits.ref.ts'

const { exact: params } = testWeights(TINY, 3)
const lengths = [
  { prompt: 3, response: 4 },
  { prompt: 5, response: 2 },
]
const batch = testBatch(lengths, { P: 5, R: 4, vocab_size: TINY.vocab_size, seed: 1 })
const { hidden_size: C, head_dim: D, num_attention_heads: H, num_hidden_layers: L } = TINY
const untouched = forwardRef(TINY, params, batch)
const last = (edits: readonly RefEdit[]) =>
  forwardRef(TINY, params, batch, { edits, untouched }).hidden_states[L]
const zero = (where: RefEdit['where'], head?: number): RefEdit => ({
  where,
  layer: 2,
  head,
  values: new Float64Array(head === undefined ? C : D),
})

test('all heads of a block without output are its attention without one', () => {
  const heads = Array.from({ length: H }, (_, h) => zero('head', h))
  expect(last(heads)).toEqual(last([zero('attention')]))
  expect(last([heads[0]])).not.toEqual(last([]))
})

test('a block that is skipped writes neither part, and the order of edits counts', () => {
  const skipped = last([zero('block')])
  expect(skipped).not.toEqual(last([zero('attention')]))
  const { hidden_states } = forwardRef(TINY, params, batch, { edits: [zero('block')] })
  expect(hidden_states[2]).toEqual(untouched.hidden_states[1])
  expect(hidden_states[L]).toEqual(skipped)
  const values = Float64Array.from({ length: C }, (_, c) => c)
  const add: RefEdit = { where: 'residual', layer: 2, adds: true, values }
  const set: RefEdit = { where: 'residual', layer: 2, values }
  expect(last([add, set])).toEqual(last([set]))
  expect(last([set, add])).not.toEqual(last([set]))
})

test('states of another run at all tokens give that run, at one token something between', () => {
  const other = { ...batch, input_ids: batch.input_ids.map((id) => (id + 3) % TINY.vocab_size) }
  const clean = forwardRef(TINY, params, other)
  const patch = (isChosen?: (m: number) => boolean): RefEdit => ({
    where: 'residual',
    layer: 1,
    values: clean.hidden_states[1],
    ...(isChosen && { isChosen }),
  })
  expect(last([patch()])).toEqual(clean.hidden_states[L])
  const one = last([patch((m) => m === batch.width - 3)])
  expect(one).not.toEqual(clean.hidden_states[L])
  // Earlier tokens and other rows do not see it.
  expect(one.subarray(0, (batch.width - 3) * C)).toEqual(
    untouched.hidden_states[L].subarray(0, (batch.width - 3) * C),
  )
})
