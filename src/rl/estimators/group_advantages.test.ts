import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { expectClose } from '../../kernels/testing.ts'
import { gpgAdvantages } from './gpg.ts'
import { grpoAdvantages } from './grpo.ts'
import { grpoBatchStdAdvantages } from './grpo_batch_std.ts'
import { grpoPasskAdvantages } from './grpo_passk.ts'
import { grpoVectorizedAdvantages } from './grpo_vectorized.ts'
import { bestOfGroupAdvantages, rejectionAdvantages } from './imitation.ts'
import { maxrlAdvantages } from './maxrl.ts'
import { opoAdvantages } from './opo.ts'
import { rlooAdvantages } from './rloo.ts'
import { trlAdvantagesRef } from './trl_advantages.ref.ts'

const EXACT = { rtol: 1e-12, atol: 1e-15 }
const NO_STD = { norm_adv_by_std_in_grpo: false }

test('a group of 1, 0, 0, 1 gets ±0.866 with the unbiased standard deviation', () => {
  // mean 1/2, squares sum to 1, std = sqrt(1/3)
  const a = 0.5 / (Math.sqrt(1 / 3) + 1e-6)
  expectClose(grpoAdvantages([1, 0, 0, 1], [5, 5, 5, 5]), [a, -a, -a, a], EXACT)
})

test('without the standard deviation only the mean is subtracted, and groups need not be contiguous', () => {
  expect([...grpoAdvantages([3, 10, 1, 20], [0, 1, 0, 1], NO_STD)]).toEqual([1, -5, -1, 5])
})

test('a group of one keeps its score in grpo, rloo, opo and gpg; rloo_vectorized gives it 0', () => {
  const index = [7, 3]
  const normed = 5 / Math.fround(1 + 1e-6)
  expectClose(grpoAdvantages([5, 5], index), [normed, normed], EXACT)
  expectClose(grpoVectorizedAdvantages([5, 5], index), [normed, normed], EXACT)
  for (const advantages of [
    grpoAdvantages([5, 5], index, NO_STD),
    rlooAdvantages([5, 5], index),
    opoAdvantages([5, 5], [2, 3], index),
    gpgAdvantages([5, 5], index),
  ])
    expect([...advantages]).toEqual([5, 5])
  expect([...rlooAdvantages([5, 5], index, { zeroSingletons: true })]).toEqual([0, 0])
})

test('equal scores give exactly zero, also where their mean rounds', () => {
  const scores = [0.1, 0.1, 0.1]
  const index = [4, 4, 4]
  expect(scores.reduce((sum, s) => sum + s) / 3).not.toBe(0.1)
  for (const advantages of [
    grpoAdvantages(scores, index),
    grpoAdvantages(scores, index, NO_STD),
    grpoPasskAdvantages(scores, index),
    rlooAdvantages(scores, index),
    rlooAdvantages(scores, index, { zeroSingletons: true }),
    opoAdvantages(scores, [3, 5, 7], index),
    gpgAdvantages(scores, index),
  ])
    expect([...advantages]).toEqual([0, 0, 0])
})

test('grpo_vectorized divides by no less than 0.001: a near tie stays small', () => {
  // deviations ±5e-5; their std of 7e-5 is below the floor
  const near = grpoVectorizedAdvantages([0, 1e-4], [0, 0])
  expectClose(near, [-5e-5 / 1.001e-3, 5e-5 / 1.001e-3], { rtol: 1e-6 })
  expectClose(grpoAdvantages([0, 1e-4], [0, 0]), [-0.6973, 0.6973], { rtol: 1e-4 })
})

test('grpo_vectorized equals grpo away from the floor, up to float32, and obeys the flag', () => {
  const scores = [0.3, -1.2, 2.5, 0.7]
  const index = [1, 0, 1, 0]
  // std is above 1: its float32 error is some 1e-7
  expectClose(grpoVectorizedAdvantages(scores, index), grpoAdvantages(scores, index), {
    rtol: 1e-6,
  })
  expectClose(
    grpoVectorizedAdvantages(scores, index, NO_STD),
    grpoAdvantages(scores, index, NO_STD),
    { rtol: 1e-6 },
  )
})

test('grpo_vectorized sees scores as float32: what lies below their spacing is not in the mean', () => {
  // float32 has nothing between 4096 and 4096.0005: mean 4096, variance 0, so std = 0.001
  const advantages = grpoVectorizedAdvantages([4096.0001, 4096.0002], [0, 0])
  expectClose(advantages, [1e-4 / 1.001e-3, 2e-4 / 1.001e-3], { rtol: 1e-6 })
})

test('pass@k: only the best counts, by its lead over the second', () => {
  // std of 1, 3, 2 is 1
  expectClose(grpoPasskAdvantages([1, 3, 2], [0, 0, 0]), [0, 1 / (1 + 1e-6), 0], EXACT)
  expect([...grpoPasskAdvantages([1, 8, 4, 2], [0, 1, 1, 0], NO_STD)]).toEqual([0, 4, 0, 1])
  expect([...grpoPasskAdvantages([2, 2, 1], [0, 0, 0])]).toEqual([0, 0, 0])
  expect(() => grpoPasskAdvantages([1, 2, 3], [0, 0, 9])).toThrow(/2 responses or more.*group 9/)
})

test('rloo compares a score with the mean of the others', () => {
  expectClose(rlooAdvantages([1, 0, 0, 0], [2, 2, 2, 2]), [1, -1 / 3, -1 / 3, -1 / 3], EXACT)
  expectClose(rlooAdvantages([5, 1], [0, 0], { zeroSingletons: true }), [4, -4], EXACT)
})

test('opo weighs the baseline with the lengths', () => {
  // (3·1 + 1·0) / 4
  expectClose(opoAdvantages([1, 0], [3, 1], [0, 0]), [0.25, -0.75], EXACT)
  expect([...opoAdvantages([1, 0], [0, 0], [0, 0])]).toEqual([1, 0])
})

test('gpg scales by the share of scores that are not zero, in float32', () => {
  // two of three scores: α = 1.5
  expectClose(gpgAdvantages([2, 0, 3], [0, 0, 1]), [1.5, -1.5, 4.5], EXACT)
  expectClose(gpgAdvantages([2, 0, 3], [0, 0, 1], { f_norm: 2 }), [0.75, -0.75, 2.25], EXACT)
  expect(gpgAdvantages([1, 2, 3, 0], [0, 0, 1, 1])[1]).toBe(Math.fround(4 / 3) * 0.5)
  expect([...gpgAdvantages([0, 0], [0, 0])]).toEqual([0, 0])
})

test('a constant added to every score of a group leaves its advantages alone', () => {
  const scores = fc.array(fc.double({ min: -5, max: 5, noNaN: true }), {
    minLength: 4,
    maxLength: 4,
  })
  const index = [0, 0, 0, 0]
  fc.assert(
    fc.property(scores, fc.integer({ min: -3, max: 3 }), (group, constant) => {
      const ordered = [...group].sort((a, b) => b - a)
      // below this the rounding of s + constant shows
      fc.pre(ordered[0] - ordered[3] > 1e-3 && ordered[0] - ordered[1] > 1e-6)
      const shifted = group.map((s) => s + constant)
      const near = { atol: 1e-8, rtol: 1e-6 }
      for (const estimate of [
        (s: number[]) => grpoAdvantages(s, index),
        (s: number[]) => grpoAdvantages(s, index, NO_STD),
        (s: number[]) => grpoPasskAdvantages(s, index),
        (s: number[]) => rlooAdvantages(s, index),
        (s: number[]) => opoAdvantages(s, [1, 2, 3, 9], index),
      ])
        expectClose(estimate(shifted), estimate(group), near)
      // float32 sums of four numbers up to 8: 2e-6 at worst
      expectClose(
        grpoVectorizedAdvantages(shifted, index, NO_STD),
        grpoVectorizedAdvantages(group, index, NO_STD),
        { atol: 5e-6 },
      )
    }),
  )
})

test('maxrl measures scores in means of their group: 1/p - 1 for a right answer and -1 for a wrong one', () => {
  const scores = [1, 0, 0, 0, 2, 6]
  const index = [0, 0, 0, 0, 1, 1]
  expect([...maxrlAdvantages(scores, index)]).toEqual([3, -1, -1, -1, -0.5, 0.5])
})

test('maxrl says nothing about a group of one, and none whose mean is not above 0', () => {
  expect([...maxrlAdvantages([5, 0, 0, -1, -3, 1, -1], [0, 1, 1, 2, 2, 3, 3])]).toEqual([
    0, 0, 0, 0, 0, 0, 0,
  ])
  // SkyRL and the authors divide by a negative mean all the same: the better response has -1/2.
  const [better, worse] = maxrlAdvantages([-1, -3], [0, 0], { guards: 'skyrl', epsilon: 0 })
  expect([better, worse]).toEqual([-0.5, 0.5])
  expect(maxrlAdvantages([1], [0], { guards: 'authors' })[0]).toBeCloseTo(1e6)
})

test('grpo_batch_std divides by one spread for all prompts, as TRL does with scale_rewards batch', () => {
  const scores = [1, 0, 1, 1, 1, 1]
  const index = [0, 0, 1, 1, 2, 2]
  // Mean 5/6, squares 5/36 + 25/36 = 30/36, divided by 5.
  const std = Math.sqrt(30 / 36 / 5)
  const half = 0.5 / (std + 1e-4)
  const found = grpoBatchStdAdvantages(scores, index, { norm_adv_epsilon: 1e-4 })
  expectClose(found, [half, -half, 0, 0, 0, 0], EXACT)
  const { advantages } = trlAdvantagesRef(
    scores.map((score) => [score]),
    {
      num_generations: 2,
      scale_rewards: 'batch',
      multi_objective_aggregation: 'sum_then_normalize',
      reward_weights: [1],
    },
  )
  expectClose(found, advantages, EXACT)
})

test('grpo_batch_std: equal scores, and a group of one, give exactly zero', () => {
  expect([...grpoBatchStdAdvantages([0.1, 0.1, 0.1], [4, 4, 4])]).toEqual([0, 0, 0])
  expect(grpoBatchStdAdvantages([3, 1, 2], [0, 1, 1])[0]).toBe(0)
})

test('rejection sampling keeps what is right, best of n the first of the best of each group', () => {
  const scores = [1, 0.5, 1, 0, 0.25, 0.25]
  const index = [0, 0, 0, 7, 7, 7]
  expect([...rejectionAdvantages(scores)]).toEqual([1, 0, 1, 0, 0, 0])
  expect([...bestOfGroupAdvantages(scores, index)]).toEqual([1, 0, 0, 0, 1, 0])
  // Right with a penalty for its length is not right.
  expect([...rejectionAdvantages([0.99, 1.2])]).toEqual([0, 1])
})
