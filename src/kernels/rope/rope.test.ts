import { expect, test } from 'vitest'
import { numericGradient, weightedSum } from '../numericGradient.ref.ts'
import { expectClose, randomValues } from '../testing.ts'
import { qkNormRopeBackwardRef, qkNormRopeForwardRef, type RopeInputs } from './rope.ref.ts'

const oneHead = { tokens: 1, num_attention_heads: 1, num_key_value_heads: 1, head_dim: 4, eps: 0 }

test('pairs (i, i + D/2) turn by position times inv_freq, and v is copied', () => {
  const inputs = {
    qkv: [1, 0, 0, 3, 0, 2, 5, 0, 6, 7, 8, 9],
    norm_weight: new Float32Array(8),
    position_ids: [2],
    inv_freq: [Math.PI / 4, Math.PI / 2], // a quarter turn and a half turn at position 2
  }
  const out = qkNormRopeForwardRef(inputs, { ...oneHead, has_qk_norm: 0 })
  expectClose(out, [0, 0, 1, -3, -5, -2, 0, 0, 6, 7, 8, 9])
})

test('the norm divides a head by its root mean square and scales q and k by their own weights', () => {
  const inputs = {
    qkv: [1, 7, 1, 7, 2, 2, 2, 2, 6, 7, 8, 9],
    norm_weight: [1, 2, 3, 4, 5, 6, 7, 8],
    position_ids: [0],
    inv_freq: [1, 0.1],
  }
  const out = qkNormRopeForwardRef(inputs, { ...oneHead, has_qk_norm: 1 })
  expectClose(out, [0.2, 2.8, 0.6, 5.6, 5, 6, 7, 8, 6, 7, 8, 9])
})

test('scores of q and k depend on the distance of their positions only', () => {
  const score = (qPosition: number, kPosition: number) => {
    const inputs = {
      qkv: randomValues(24, 1),
      norm_weight: randomValues(8, 2),
      position_ids: [qPosition, kPosition],
      inv_freq: [0.5, 0.25],
    }
    const out = qkNormRopeForwardRef(inputs, { ...oneHead, tokens: 2, has_qk_norm: 1 })
    return weightedSum(out.subarray(0, 4), out.subarray(16, 20))
  }
  expect(score(9, 4)).toBeCloseTo(score(6, 1), 12)
  expect(score(9, 4)).not.toBeCloseTo(score(9, 5), 3)
})

test.for([0, 1])('the backward is the gradient of the forward, has_qk_norm %i', (has_qk_norm) => {
  const shape = { tokens: 3, num_attention_heads: 4, num_key_value_heads: 2, head_dim: 6 }
  const full = { ...shape, has_qk_norm, eps: 1e-2 }
  const count = 3 * 8 * 6
  const inputs = {
    qkv: randomValues(count, 1),
    norm_weight: randomValues(12, 2),
    position_ids: [0, 3, 50],
    inv_freq: [1, 0.3, 0.01],
  }
  const d_out = randomValues(count, 3)
  const loss = (changed: Partial<RopeInputs>) =>
    weightedSum(qkNormRopeForwardRef({ ...inputs, ...changed }, full), d_out)
  const { d_qkv, d_norm_partials } = qkNormRopeBackwardRef(inputs, d_out, full)
  const expected = numericGradient((qkv) => loss({ qkv }), inputs.qkv)
  expectClose(d_qkv, expected, { atol: 1e-8 })
  const dNorm = Float64Array.from({ length: 12 }, (_, i) =>
    [0, 1, 2].reduce((sum, token) => sum + d_norm_partials[token * 12 + i], 0),
  )
  const expectedNorm = numericGradient((norm_weight) => loss({ norm_weight }), inputs.norm_weight)
  expectClose(dNorm, expectedNorm, { atol: 1e-8 })
})
