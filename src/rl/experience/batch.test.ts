import { expect, test } from 'vitest'
import {
  attentionResponseMask,
  makeBatch,
  padPrompts,
  positionIds,
  responseEnds,
  responseMask,
  spreadRows,
  tokenCount,
} from './batch.ts'

const EOS = 1

test('prompts are padded on the left, responses masked up to and including their first end token', () => {
  const prompts = padPrompts([[7, 8], [9]], 3, 0)
  expect([...prompts.input_ids]).toEqual([0, 7, 8, 0, 0, 9])
  expect([...prompts.attention_mask]).toEqual([0, 1, 1, 0, 0, 1])
  const size = { rows: 2, prompt_length: 3, response_length: 3 }
  const batch = makeBatch(prompts, Uint32Array.of(5, EOS, 0, 4, 4, 4), size, EOS)
  expect([...batch.response_mask]).toEqual([1, 1, 0, 1, 1, 1])
  expect([...batch.attention_mask]).toEqual([0, 1, 1, 1, 1, 0, 0, 0, 1, 1, 1, 1])
  // clip(cumsum(mask) - 1, 0)
  expect([...batch.position_ids]).toEqual([0, 0, 1, 2, 3, 3, 0, 0, 0, 1, 2, 3])
  expect([...batch.input_ids]).toEqual([0, 7, 8, 5, EOS, 0, 0, 0, 9, 4, 4, 4])
  expect(batch.is_ended).toEqual([true, false])
  expect([tokenCount(batch), tokenCount(batch, 1, 1)]).toEqual([5, 3])
})

test('a phase with shorter responses counts no columns beyond its own maximum', () => {
  const prompts = padPrompts([[7]], 1, 0)
  const size = { rows: 1, prompt_length: 1, response_length: 4 }
  const batch = makeBatch(prompts, Uint32Array.of(5, 6, 0, 0), size, EOS, {
    max_response_length: 2,
  })
  expect([...batch.response_mask]).toEqual([1, 1, 0, 0])
  expect(batch.is_ended).toEqual([false])
})

test('a prompt that is empty or too long is refused with its number', () => {
  expect(() => padPrompts([[1], [1, 2, 3]], 2, 0)).toThrow(
    /prompt 1: expected 1 to 2 tokens, got 3/,
  )
  expect(() => padPrompts([[]], 2, 0)).toThrow(/prompt 0/)
})

test('rows picked at even distances keep everything that belongs to them', () => {
  const prompts = padPrompts([[7], [8], [9], [6]], 1, 0)
  const size = { rows: 4, prompt_length: 1, response_length: 2 }
  const batch = makeBatch(prompts, Uint32Array.of(5, EOS, EOS, 0, 4, 4, 3, EOS), size, EOS)
  const picked = spreadRows(batch, 2)
  expect([...picked.input_ids]).toEqual([7, 5, EOS, 9, 4, 4])
  expect([...picked.response_ids]).toEqual([5, EOS, 4, 4])
  expect([...picked.response_mask]).toEqual([1, 1, 1, 1])
  expect([...picked.response_lengths]).toEqual([2, 2])
  expect(picked.is_ended).toEqual([true, false])
  expect(tokenCount(picked)).toBe(4)
  expect([...batch.input_ids].length).toBe(12)
})

test('any of several end tokens ends a response, and the first one found does', () => {
  const ids = [5, 3, EOS, 0, EOS, 3, 0, 0, 5, 5, 5, 5]
  expect([...responseMask(ids, 4, [EOS, 3])]).toEqual([1, 1, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1])
  expect([...responseMask(ids, 4, EOS)]).toEqual([1, 1, 1, 0, 1, 0, 0, 0, 1, 1, 1, 1])
  expect(responseEnds(ids, 4, [EOS, 3]).is_ended).toEqual([true, true, false])
  const prompts = padPrompts([[7], [7], [7]], 1, 0)
  const size = { rows: 3, prompt_length: 1, response_length: 4 }
  const batch = makeBatch(prompts, Uint32Array.from(ids), size, [EOS, 3])
  expect([...batch.response_lengths]).toEqual([2, 1, 4])
  expect(batch.response_mask).toEqual(responseMask(ids, 4, [EOS, 3]))
})

test('padding with the end token does not lengthen a response cut at its maximum', () => {
  const cut = responseEnds([5, 6, EOS, EOS], 4, EOS, 2)
  expect(cut).toEqual({ response_lengths: Uint32Array.of(2), is_ended: [false] })
})

test('positions count real tokens from 0 in each row', () => {
  expect([...positionIds([0, 0, 1, 1, 1, 1, 0, 1], 4)]).toEqual([0, 0, 0, 1, 0, 1, 1, 2])
})

test('the mask of a rollout that gives none is the end of the attention mask', () => {
  expect([...attentionResponseMask([0, 1, 1, 0, 1, 1, 1, 1], 4, 2)]).toEqual([1, 0, 1, 1])
})
