import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { expectClose } from '../kernels/testing.ts'
import { grpoAdvantages, informativeShare, spreadAdvantages } from './advantages.ts'

const NORMED = { norm_adv_by_std_in_grpo: true }

test('a group of 1, 0, 0, 1 gets ±0.866 with the unbiased standard deviation', () => {
  // mean 1/2, squares sum to 1, std = sqrt(1/3)
  const a = 0.5 / (Math.sqrt(1 / 3) + 1e-6)
  expectClose(grpoAdvantages([1, 0, 0, 1], [5, 5, 5, 5], NORMED), [a, -a, -a, a], { rtol: 1e-12 })
})

test('without the standard deviation only the mean is subtracted, and groups need not be contiguous', () => {
  const advantages = grpoAdvantages([3, 10, 1, 20], [0, 1, 0, 1], {
    norm_adv_by_std_in_grpo: false,
  })
  expect([...advantages]).toEqual([1, -5, -1, 5])
})

test('equal scores give exactly zero, also where their mean rounds', () => {
  expect([...grpoAdvantages([0.1, 0.1, 0.1], [0, 0, 0], NORMED)]).toEqual([0, 0, 0])
})

test('a constant added to every reward leaves the advantages alone', () => {
  const scores = fc.array(fc.double({ min: -5, max: 5, noNaN: true }), {
    minLength: 4,
    maxLength: 4,
  })
  fc.assert(
    fc.property(scores, fc.integer({ min: -3, max: 3 }), (group, constant) => {
      const spread = Math.max(...group) - Math.min(...group)
      fc.pre(spread > 1e-3)
      const index = [0, 0, 0, 0]
      const shifted = group.map((s) => s + constant)
      expectClose(grpoAdvantages(shifted, index, NORMED), grpoAdvantages(group, index, NORMED), {
        atol: 1e-8,
        rtol: 1e-6,
      })
    }),
  )
})

test('an advantage covers its response tokens and nothing behind them', () => {
  const mask = Float32Array.of(1, 1, 0, 1, 0, 0)
  expect([...spreadAdvantages([2, -3], mask, 3)]).toEqual([2, 2, 0, -3, -0, -0])
})

test('a group is informative when its scores differ', () => {
  expect(informativeShare([1, 1, 0, 1, 0, 0, 0, 0], 2)).toBe(0.25)
})
