import { expect, test } from 'vitest'
import { type BlockRef, decodeTokenRef } from './decode_token.ref.ts'
import { rowVectors } from './decode_token.ts'

const shape = {
  hidden_size: 2,
  intermediate_size: 1,
  num_attention_heads: 1,
  num_key_value_heads: 1,
  head_dim: 2,
  eps: 0,
}
const ZERO = [0, 0, 0, 0]
/** A block that adds nothing. */
const idle: BlockRef = {
  input_layernorm: [1, 1],
  qkv_proj: [...ZERO, ...ZERO, ...ZERO],
  o_proj: ZERO,
  post_attention_layernorm: [1, 1],
  gate_up_proj: ZERO,
  down_proj: [0, 0],
}
const take = (block: BlockRef, past: Float64Array[] = []) =>
  decodeTokenRef([3, 4], [block], shape, { position: 0, inv_freq: [1], past: [past] })

test('a block of zeros leaves a state as it is', () => {
  expect([...take(idle)]).toEqual([3, 4])
})

test('its own value is all that the first token attends to', () => {
  // norm([3, 4]) = [3, 4] / √12.5; v is twice that, o the identity.
  const qkv_proj = [...ZERO, ...ZERO, 2, 0, 0, 2]
  const [a, b] = take({ ...idle, qkv_proj, o_proj: [1, 0, 0, 1] })
  expect(a).toBeCloseTo(3 + 6 / Math.sqrt(12.5), 12)
  expect(b).toBeCloseTo(4 + 8 / Math.sqrt(12.5), 12)
})

test('with equal scores it attends to the mean of all values', () => {
  // Key [0, 0] and value [10, 20] of one token before; its own value is [0, 0].
  const past = [Float64Array.from([0, 0, 10, 20])]
  expect([...take({ ...idle, o_proj: [1, 0, 0, 1] }, past)]).toEqual([8, 14])
  expect(past).toHaveLength(2)
})

test('gate and up are multiplied, and go down', () => {
  // gate = up = the sum of [3, 4] / √12.5.
  const sum = 7 / Math.sqrt(12.5)
  const [a, b] = take({ ...idle, gate_up_proj: [1, 1, 1, 1], down_proj: [1, 0] })
  expect(a).toBeCloseTo(3 + (sum / (1 + Math.exp(-sum))) * sum, 12)
  expect(b).toBe(4)
})

test('a workgroup holds four rows of a small model, in whole vectors', () => {
  const a = {
    hidden_size: 64,
    intermediate_size: 168,
    num_attention_heads: 4,
    num_key_value_heads: 4,
    head_dim: 16,
  }
  expect(rowVectors(a)).toBe((64 + 64 + 192) / 4)
  expect(rowVectors({ ...a, hidden_size: 192, intermediate_size: 512 })).toBe((192 + 192 + 512) / 4)
  expect(rowVectors({ ...a, hidden_size: 576, intermediate_size: 1536 })).toBeUndefined()
  expect(rowVectors({ ...a, head_dim: 12 })).toBeUndefined()
  expect(rowVectors({ ...a, intermediate_size: 170 })).toBeUndefined()
})
