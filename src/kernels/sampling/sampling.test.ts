import { describe, expect, test } from 'vitest'

import { expectClose } from '../testing.ts'
import { normalPair, normalValues, philox4x32, uniform24 } from './philox.ts'
import { keptRef, probabilities, sampleTokenRef } from './sampling.ref.ts'
import { sample_token, sample_token_narrow, sampleToken } from './sampling.ts'

describe('philox4x32', () => {
  test('gives the known answers of Random123', () => {
    expect(philox4x32([0, 0, 0, 0], [0, 0])).toEqual([
      0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8,
    ])
    const ones = 0xffffffff
    expect(philox4x32([ones, ones, ones, ones], [ones, ones])).toEqual([
      0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd,
    ])
    expect(
      philox4x32([0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344], [0xa4093822, 0x299f31d0]),
    ).toEqual([0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1])
  })

  test('uniforms are 24-bit steps in [0, 1)', () => {
    expect(uniform24(0)).toBe(0)
    expect(uniform24(0x80000000)).toBe(0.5)
    expect(uniform24(0xffffffff)).toBe(1 - 2 ** -24)
    expect(uniform24(0xff)).toBe(0)
  })
})

describe('normal values', () => {
  test('are Box and Muller’s of their two uniforms, and finite at the ends', () => {
    // Angle 1/4 of a turn: the cosine is 0 and the sine is 1.
    const [x, y] = normalPair(0x7fffff00, 0x40000000)
    expectClose([x, y], [0, Math.sqrt(2 * Math.log(2))])
    expect(normalPair(0, 0)[0]).toBeCloseTo(Math.sqrt(48 * Math.log(2)), 9)
    expect(normalPair(0xffffffff, 0)[0]).toBeCloseTo(0, 12)
  })

  test('have mean 0, the variance asked for, a normal’s kurtosis and no correlation of neighbours', () => {
    const count = 40_000
    const values = normalValues(count, 2, [1, 2], 3)
    const mean = (f: (x: number, i: number) => number) =>
      values.reduce((sum, x, i) => sum + f(x / 2, i), 0) / count
    // Four standard errors: 1, √2, √96 and 1 over √count.
    expect(Math.abs(mean((x) => x))).toBeLessThan(4 * 0.005)
    expect(Math.abs(mean((x) => x * x) - 1)).toBeLessThan(4 * 0.0071)
    expect(Math.abs(mean((x) => x ** 4) - 3)).toBeLessThan(4 * 0.049)
    const neighbour = mean((x, i) => x * (values[(i + 1) % count] / 2))
    expect(Math.abs(neighbour)).toBeLessThan(4 * 0.005)
  })

  test('depend on their index, the stream and the key only', () => {
    const values = normalValues(10, 1, [1, 2], 3)
    expect(normalValues(7, 1, [1, 2], 3)).toEqual(values.subarray(0, 7))
    expect(normalValues(10, 1, [1, 2], 4)).not.toEqual(values)
    expect(normalValues(10, 1, [2, 2], 3)).not.toEqual(values)
    expect(normalValues(10, 1, [1, 3], 3)).not.toEqual(values)
  })
})

describe('sampling reference', () => {
  const logits = [Math.log(1), Math.log(4), Math.log(2), Math.log(1), Math.log(2)]
  const probs = probabilities(logits, 1)
  const base = { row_offset: 0, position: 0, seed_low: 7, seed_high: 0, step: 0 }

  test('the softmax, its entropy and a halved temperature match hand numbers', () => {
    expectClose(probs, [0.1, 0.4, 0.2, 0.1, 0.2])
    expectClose(probabilities([0, Math.log(3)], 0.5), [0.1, 0.9])
    const { entropy } = sampleTokenRef([0, 0, 0, 0], 0, {
      ...base,
      temperature: 1,
      top_k: 0,
      top_p: 1,
    })
    expect(entropy).toBeCloseTo(Math.log(4), 12)
  })

  test('top-k, then top-p, keep ties at the boundary and at least one token', () => {
    const kept = (top_k: number, top_p: number) => [...keptRef(logits, probs, { top_k, top_p })]
    expect(kept(0, 1)).toEqual([1, 1, 1, 1, 1])
    expect(kept(1, 1)).toEqual([0, 1, 0, 0, 0])
    expect(kept(2, 1)).toEqual([0, 1, 1, 0, 1])
    expect(kept(99, 1)).toEqual([1, 1, 1, 1, 1])
    expect(kept(0, 0.39)).toEqual([0, 1, 0, 0, 0])
    expect(kept(0, 0.41)).toEqual([0, 1, 1, 0, 1])
    expect(kept(0, 0.81)).toEqual([1, 1, 1, 1, 1])
    expect(kept(0, 0)).toEqual([0, 1, 0, 0, 0])
    // After top-k 3 the best token holds 0.4 / 0.8: renormalised, it reaches 0.49 alone.
    expect(kept(3, 0.49)).toEqual([0, 1, 0, 0, 0])
  })

  test('greedy takes the lowest index on ties and is scored at temperature 1', () => {
    const { token, log_prob } = sampleTokenRef([0, Math.log(2), Math.log(2)], 0, {
      ...base,
      temperature: 0,
      top_k: 0,
      top_p: 1,
    })
    expect(token).toBe(1)
    expect(log_prob).toBeCloseTo(Math.log(0.4), 12)
  })

  test('a filter changes the token, never the score of a token', () => {
    const { token, log_prob } = sampleTokenRef(logits, 0, {
      ...base,
      temperature: 1,
      top_k: 1,
      top_p: 1,
    })
    expect(token).toBe(1)
    expect(log_prob).toBeCloseTo(Math.log(0.4), 12)
  })
})

test('a model that writes a few words takes the kernel that compiles soon', () => {
  expect(sampleToken({ vocab_size: 64 })).toBe(sample_token_narrow)
  expect(sampleToken({ vocab_size: 1024 })).toBe(sample_token)
  expect(sampleToken({ vocab_size: 1024, compilesSoon: true })).toBe(sample_token_narrow)
  expect(sampleToken({ vocab_size: 50_000, compilesSoon: true })).toBe(sample_token)
  expect(sampleToken({ vocab_size: 64, narrowKernels: false, compilesSoon: true })).toBe(
    sample_token,
  )
})
