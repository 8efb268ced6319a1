import { describe, expect, test } from 'vitest'
import { expectClose } from '../../kernels/testing.ts'
import { TINY } from '../testing.ts'
import { inverseFrequencies, type Llama3RopeScaling, modelShape } from './config.ts'

const SCALING: Llama3RopeScaling = {
  rope_type: 'llama3',
  factor: 8,
  low_freq_factor: 1,
  high_freq_factor: 4,
  original_max_position_embeddings: 16,
}

describe('frequencies', () => {
  test('each pair turns theta^(-2/D) times as fast as the one before', () => {
    const invFreq = inverseFrequencies({ head_dim: 6, rope_theta: 1000 })
    expectClose(invFreq, [1, 0.1, 0.01], { atol: 0, rtol: 1e-15 })
  })

  test('llama3 scaling keeps fast pairs, divides slow ones and blends in between', () => {
    // Radians per token 1, 0.5, 0.25, …; full turns within 64 tokens: 10.2, 5.1, 2.5, 1.3, 0.6,
    // 0.3.
    const plain = { head_dim: 12, rope_theta: 2 ** 6 }
    const rope_scaling = { ...SCALING, original_max_position_embeddings: 64 }
    const [a, b, c, d, e, f] = inverseFrequencies({ ...plain, rope_scaling })
    expectClose([a, b, e, f], [1, 0.5, 0.0625 / 8, 0.03125 / 8], { atol: 0, rtol: 1e-14 })
    const blend = (frequency: number) => {
      const smooth = (64 / ((2 * Math.PI) / frequency) - 1) / (4 - 1)
      return ((1 - smooth) * frequency) / 8 + smooth * frequency
    }
    expectClose([c, d], [blend(0.25), blend(0.125)], { atol: 0, rtol: 1e-14 })
    expect(c / 0.25).toBeGreaterThan(1 / 8)
    expect(c / 0.25).toBeLessThan(1)
  })
})

describe('modelShape', () => {
  test('accepts llama3 scaling', () => {
    expect(modelShape({ ...TINY, rope_scaling: SCALING }).rope_scaling).toEqual(SCALING)
  })

  test.each([
    ['rope_theta', 0, /model.rope_theta: expected a number above 0, got 0/],
    ['rope_theta', Number.NaN, /model.rope_theta/],
    ['rms_norm_eps', 0, /model.rms_norm_eps/],
    ['rms_norm_eps', Number.POSITIVE_INFINITY, /model.rms_norm_eps/],
    ['num_key_value_heads', 3, /num_attention_heads: expected a multiple/],
    ['head_dim', 7, /head_dim: expected an even number/],
    ['vocab_size', 1.5, /vocab_size: expected a whole number/],
  ])('refuses %s %s', (field, value, message) => {
    expect(() => modelShape({ ...TINY, [field]: value })).toThrow(message)
  })

  test('refuses odd rows of bfloat16, which lie in pairs', () => {
    const odd = { ...TINY, intermediate_size: 27 }
    expect(modelShape(odd).intermediate_size).toBe(27)
    expect(() => modelShape({ ...odd, dtype: 'bfloat16' })).toThrow(
      'model.intermediate_size: expected an even number',
    )
  })

  test.each([
    ['factor', 0.5],
    ['low_freq_factor', 0],
    ['high_freq_factor', 1],
    ['original_max_position_embeddings', -1],
  ])('refuses rope_scaling.%s %s', (field, value) => {
    const rope_scaling = { ...SCALING, [field]: value }
    expect(() => modelShape({ ...TINY, rope_scaling })).toThrow(`model.rope_scaling.${field}`)
  })
})
