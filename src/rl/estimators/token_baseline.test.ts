import { expect, test } from 'vitest'
import { expectClose } from '../../kernels/testing.ts'
import { optimalTokenBaseline, returnsToGo, tirOptimalTokenBaseline } from './token_baseline.ts'

/** The 1e-8 of the denominator shows against weights of 1. */
const EPSILON_SHOWS = { atol: 1e-7, rtol: 0 }
const PLAIN = { handle_zero_tail: false, epsilon: 1e-8 }
const ZERO_TAIL = { handle_zero_tail: true, epsilon: 1e-8 }

/** Every token with probability 1/2 and Σπ² = 1/2: each adds 1 - 1 + 1/2 to W. */
function batch(rows: number[][], masks: number[][], index = rows.map(() => 3)) {
  const response_mask = masks.flat()
  return {
    token_level_rewards: rows.flat(),
    response_mask,
    response_length: masks[0].length,
    index,
    old_log_probs: response_mask.map(() => Math.log(0.5)),
    sum_pi_squared: response_mask.map(() => 0.5),
  }
}

const LONG_AND_SHORT = batch(
  [
    [0, 1],
    [2, 0],
  ],
  [
    [1, 1],
    [1, 0],
  ],
)

test('returns add up what the policy earns from a token on; a masked token shows what follows', () => {
  expect([...returnsToGo([1, 5, 2, 4, 0, 7], [1, 0, 1, 1, 1, 0], 3)]).toEqual([3, 2, 2, 4, 0, 0])
})

test('the baseline of a column is the mean return, weighted by the path of each response', () => {
  // column 0: W = 1/2 and 1/2, returns 1 and 2; column 1: the first row alone
  const { advantages, returns } = optimalTokenBaseline(LONG_AND_SHORT, PLAIN)
  expect([...returns]).toEqual([1, 1, 2, 0])
  expectClose(advantages, [-0.5, 0, 0.5, 0], EPSILON_SHOWS)
})

test('the weights follow 1 - 2π + Σπ², added up along the row, and the square of the rollout weight', () => {
  const rare = {
    ...LONG_AND_SHORT,
    old_log_probs: [Math.log(0.25), Math.log(0.5), Math.log(0.5), 0],
  }
  // W of the first row in column 0: 1 - 0.5 + 0.5 = 1; baseline (1·1 + 0.5·2)/1.5
  expectClose(optimalTokenBaseline(rare, PLAIN).advantages, [-1 / 3, 0, 2 / 3, 0], EPSILON_SHOWS)
  const weighted = { ...LONG_AND_SHORT, rollout_is_weights: [1, 1, 2, 0] }
  // W of the second row: 0.5·2² = 2; baseline (0.5·1 + 2·2)/2.5 = 1.8
  expectClose(optimalTokenBaseline(weighted, PLAIN).advantages, [-0.8, 0, 0.2, 0], EPSILON_SHOWS)
  const twoSteps = batch(
    [
      [0, 4],
      [6, 1],
    ],
    [
      [1, 1],
      [0, 1],
    ],
  )
  // column 1: W = 1 and 1/2, returns 4 and 1, baseline (4 + 0.5)/1.5 = 3
  expectClose(optimalTokenBaseline(twoSteps, PLAIN).advantages, [0, 1, 0, -2], EPSILON_SHOWS)
})

test('handle_zero_tail leaves the single longest response alone behind the second longest', () => {
  expectClose(
    optimalTokenBaseline(LONG_AND_SHORT, ZERO_TAIL).advantages,
    [-0.5, 1, 0.5, 0],
    EPSILON_SHOWS,
  )
  const tie = batch(
    [
      [0, 1],
      [0, 3],
    ],
    [
      [1, 1],
      [1, 1],
    ],
  )
  expectClose(optimalTokenBaseline(tie, ZERO_TAIL).advantages, [-1, -1, 1, 1], EPSILON_SHOWS)
  // two tokens each, one of them behind a hole: nobody is longest
  const hole = batch(
    [
      [0, 0, 1],
      [2, 0, 0],
    ],
    [
      [1, 0, 1],
      [1, 1, 0],
    ],
  )
  expectClose(
    optimalTokenBaseline(hole, ZERO_TAIL).advantages,
    [-0.5, 0, 0, 0.5, 0, 0],
    EPSILON_SHOWS,
  )
})

test('a group of one has no baseline', () => {
  const alone = { ...LONG_AND_SHORT, index: [0, 1] }
  for (const estimate of [optimalTokenBaseline, tirOptimalTokenBaseline])
    expect([...estimate(alone, PLAIN).advantages]).toEqual([1, 1, 2, 0])
})

test('over turns the k-th tokens are compared, by column only neighbours', () => {
  // the second row answers, reads an observation with a reward that is not its own, and continues
  const turns = batch(
    [
      [0, 1, 0],
      [0, 9, 3],
    ],
    [
      [1, 1, 0],
      [1, 0, 1],
    ],
  )
  const tir = tirOptimalTokenBaseline(turns, ZERO_TAIL)
  expectClose(tir.advantages, [-1, -1, 0, 1, 0, 1], EPSILON_SHOWS)
  expect([...tir.returns]).toEqual([1, 1, 0, 3, 3, 3])
  expectClose(optimalTokenBaseline(turns, PLAIN).advantages, [-1, 0, 0, 1, 0, 0], EPSILON_SHOWS)
})

test('a row without tokens gets 0 and leaves its group in the variant for turns', () => {
  const empty = batch(
    [
      [0, 1],
      [0, 5],
    ],
    [
      [1, 1],
      [0, 0],
    ],
  )
  expectClose(tirOptimalTokenBaseline(empty, PLAIN).advantages, [1, 1, 0, 0], { atol: 0, rtol: 0 })
  // by column the first row is compared with itself
  expectClose(optimalTokenBaseline(empty, PLAIN).advantages, [0, 0, 0, 0], EPSILON_SHOWS)
})
