import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { expectClose, randomValues } from '../../kernels/testing.ts'
import { ADV_ESTIMATORS, type AdvEstimator, computeAdvantages } from './advantages.ts'
import type { AdvantageInput } from './estimator.ts'
import { gaeAdvantages } from './gae.ts'
import { informativeShare } from './groups.ts'

const EXACT = { rtol: 1e-12, atol: 1e-15 }
/** Whitening has 1e-8 in its mean and under its root. */
const WHITENED = { rtol: 1e-7, atol: 1e-7 }

const input = (
  rewards: number[][],
  masks: number[][],
  more: Partial<AdvantageInput> = {},
): AdvantageInput => ({
  token_level_rewards: rewards.flat(),
  response_mask: masks.flat(),
  response_length: masks[0].length,
  index: rewards.map(() => 0),
  ...more,
})

/** Six responses of two groups, ids 11 and 4, one with a hole and one empty; every estimator can
 * run on it. */
const ROWS = 6
const COLUMNS = 4
const MASKS = [
  [1, 1, 1, 1],
  [1, 0, 1, 0],
  [1, 1, 0, 0],
  [0, 0, 0, 0],
  [1, 1, 1, 0],
  [1, 0, 0, 1],
]
function batch(seed: number, rewards?: ArrayLike<number>): AdvantageInput {
  const values = (stream: number, count = ROWS * COLUMNS) =>
    randomValues(count, 100 * seed + stream)
  return {
    token_level_rewards: rewards ?? values(0),
    response_mask: MASKS.flat(),
    response_length: COLUMNS,
    index: [11, 4, 4, 11, 4, 11],
    values: values(1),
    reward_baselines: values(2, ROWS),
    old_log_probs: values(3).map((x) => x - 1),
    sum_pi_squared: values(4).map((x) => (x + 1) / 2),
    rollout_is_weights: values(5).map((x) => x + 1),
  }
}

const take = (values: ArrayLike<number>, order: number[], columns: number) =>
  order.flatMap((b) => Array.from({ length: columns }, (_, t) => values[b * columns + t]))

function permuted(batch: AdvantageInput, order: number[]): AdvantageInput {
  const entries = Object.entries(batch).map(([name, value]) => {
    if (typeof value === 'number') return [name, value]
    return [name, take(value, order, value.length / ROWS)]
  })
  return Object.fromEntries(entries)
}

test('gae by hand', () => {
  const one = input([[0, 0, 1]], [[1, 1, 1]], { values: [0.5, 0.4, 0.3] })
  const { returns, advantages, advantages_before_whiten } = gaeAdvantages(one, {
    gamma: 0.9,
    lam: 0.5,
  })
  // 0.7; 0.9·0.3 - 0.4 + 0.45·0.7; 0.9·0.4 - 0.5 + 0.45·0.185
  expectClose(advantages_before_whiten, [-0.05675, 0.185, 0.7], EXACT)
  expectClose(returns, [0.44325, 0.585, 1], EXACT)
  const mean = (0.7 + 0.185 - 0.05675) / 3
  const deviations = [-0.05675 - mean, 0.185 - mean, 0.7 - mean]
  const std = Math.hypot(...deviations) / Math.SQRT2
  expectClose(
    advantages,
    deviations.map((d) => d / std),
    WHITENED,
  )
})

test('gae passes over observations, ignores their rewards and does not clear padding', () => {
  const one = input([[0, 9, 1, 9]], [[1, 0, 1, 0]], { values: [0.5, 0.4, 0.25, 7] })
  const { returns, advantages, advantages_before_whiten } = gaeAdvantages(one, {})
  // last: 1 - 0.25; the hole repeats it; first: 0.25 - 0.5 + 0.75
  expectClose(advantages_before_whiten, [0.5, 0.75, 0.75, 0], EXACT)
  expectClose(returns, [1, 1.15, 1, 7], EXACT)
  // over 0.5 and 0.75: mean 0.625, std 0.125·√2; padding is (0 - 0.625)/std, far from 0
  const std = 0.125 * Math.SQRT2
  expectClose(advantages, [-0.125 / std, 0.125 / std, 0.125 / std, -0.625 / std], {
    rtol: 1e-6,
  })
})

test('gae with λ = γ = 1 is the return minus the value, whatever the values between are', () => {
  const rewards = [0.5, -1, 2, 0.25]
  const value = fc.double({ min: -5, max: 5, noNaN: true })
  fc.assert(
    fc.property(fc.tuple(value, value, value, value), (values) => {
      const { returns } = gaeAdvantages(input([rewards], [[1, 1, 1, 1]], { values }), {})
      expectClose(returns, [1.75, 1.25, 2.25, 0.25], { atol: 1e-12 })
    }),
  )
})

test('reinforce_plus_plus discounts, and passes over a masked token and its reward', () => {
  const one = input([[1, 2, 4]], [[1, 0, 1]])
  const { advantages, returns } = computeAdvantages('reinforce_plus_plus', one, { gamma: 0.5 })
  // 4; nothing; 1 + 4/2
  expect([...returns]).toEqual([3, 0, 4])
  expectClose(advantages, [-Math.SQRT1_2, 0, Math.SQRT1_2], WHITENED)
  const before = { gamma: 0.5, observationsEndReturns: true }
  expect([...computeAdvantages('reinforce_plus_plus', one, before).returns]).toEqual([1, 4, 4])
  const whole = input([[1, 2, 4]], [[1, 1, 1]])
  const discounted = computeAdvantages('reinforce_plus_plus', whole, { gamma: 0.5 })
  expect([...discounted.returns]).toEqual([3, 4, 4])
})

test('reinforce_plus_plus_baseline whitens centred scores over tokens, not over responses', () => {
  const rows = input(
    [
      [0, 3],
      [1, 0],
      [2, 0],
    ],
    [
      [1, 1],
      [1, 0],
      [1, 0],
    ],
    { index: [0, 0, 8] },
  )
  const { advantages } = computeAdvantages('reinforce_plus_plus_baseline', rows)
  // centred 1, -1, and 2 for the group of one; tokens 1, 1, -1, 2: mean 0.75, squares 4.75
  const std = Math.sqrt(4.75 / 3)
  const expected = [0.25, 0.25, -1.75, 0, 1.25, 0].map((d) => d / std)
  expectClose(advantages, expected, WHITENED)
})

test('remax subtracts the baseline from the return; a hole keeps its return', () => {
  const one = input([[1, 5, 2, 4]], [[1, 0, 1, 0]], { reward_baselines: [3] })
  const { advantages, returns } = computeAdvantages('remax', one)
  expect([...returns]).toEqual([3, 2, 2, 0])
  expect([...advantages]).toEqual([0, 2, -1, 0])
})

test('the score of a response is the sum of its row, masked columns too', () => {
  const rows = input(
    [
      [1, 3],
      [0, 2],
    ],
    [
      [1, 0],
      [1, 1],
    ],
  )
  const config = { norm_adv_by_std_in_grpo: false }
  expect([...computeAdvantages('grpo', rows, config).advantages]).toEqual([1, 0, -1, -1])
})

test('each name reaches its own estimator', () => {
  const rows = (advEstimator: AdvEstimator, config = {}) => {
    const scores = input([[1], [0], [0], [3]], [[1], [1], [1], [1]], { index: [0, 0, 0, 1] })
    return [...computeAdvantages(advEstimator, scores, config).advantages]
  }
  const third = Math.sqrt(1 / 3) + 1e-6
  const grpo = [2 / 3 / third, -1 / 3 / third, -1 / 3 / third, 3 / (1 + 1e-6)]
  expectClose(rows('grpo'), grpo, { rtol: 1e-7 })
  expectClose(rows('grpo_vectorized'), grpo, { rtol: 1e-6 })
  expectClose(rows('rloo'), [1, -0.5, -0.5, 3], EXACT)
  expectClose(rows('rloo_vectorized'), [1, -0.5, -0.5, 0], EXACT)
  // equal lengths: the group mean
  expectClose(rows('opo'), [2 / 3, -1 / 3, -1 / 3, 3], EXACT)
  expectClose(rows('gpg', { f_norm: 2 }), [2 / 3, -1 / 3, -1 / 3, 3], EXACT)
  const pairs = input([[1], [0], [5], [3]], [[1], [1], [1], [1]], { index: [0, 0, 1, 1] })
  const passk = computeAdvantages('grpo_passk', pairs, { norm_adv_by_std_in_grpo: false })
  expect([...passk.advantages]).toEqual([1, 0, 2, 0])
})

test('a tail is left without a baseline by default only over turns', () => {
  const rows = input(
    [
      [0, 1],
      [2, 0],
    ],
    [
      [1, 1],
      [1, 0],
    ],
    { old_log_probs: [-1, -1, -1, -1], sum_pi_squared: [0.5, 0.5, 0.5, 0.5] },
  )
  const tail = (name: AdvEstimator, config = {}) =>
    computeAdvantages(name, rows, config).advantages[1]
  expect(tail('optimal_token_baseline')).toBeLessThan(1e-6)
  expect(tail('optimal_token_baseline', { handle_zero_tail: true })).toBe(1)
  expect(tail('tir_optimal_token_baseline')).toBe(1)
  expect(tail('tir_optimal_token_baseline', { handle_zero_tail: false })).toBeLessThan(1e-6)
  // only over turns does the second token of [1, 0, 1] meet that of [1, 1, 0]: returns 1 and 3,
  // equal weights
  const turns = input(
    [
      [0, 0, 1],
      [0, 3, 0],
    ],
    [
      [1, 0, 1],
      [1, 1, 0],
    ],
    { old_log_probs: Array(6).fill(-1), sum_pi_squared: Array(6).fill(0.5) },
  )
  const at = (name: AdvEstimator) => computeAdvantages(name, turns).advantages
  expectClose(at('tir_optimal_token_baseline'), [-1, 0, -1, 1, 1, 0], { atol: 1e-6 })
  expectClose(at('optimal_token_baseline'), [-1, 0, 0, 1, 0, 0], { atol: 1e-6 })
})

test.for(ADV_ESTIMATORS)('%s: the order of the rows does not matter', (name) => {
  // sums are taken in another order; float32 sums in both grpo_vectorized
  const near = name.startsWith('grpo_vectorized')
    ? { rtol: 1e-5, atol: 1e-5 }
    : { rtol: 1e-9, atol: 1e-9 }
  for (const [seed, order] of [
    [1, [5, 4, 3, 2, 1, 0]],
    [2, [2, 0, 4, 1, 5, 3]],
  ] as const) {
    const rows = batch(seed)
    const straight = computeAdvantages(name, rows)
    const mixed = computeAdvantages(name, permuted(rows, [...order]))
    expectClose(mixed.advantages, take(straight.advantages, [...order], COLUMNS), near)
    expectClose(mixed.returns, take(straight.returns, [...order], COLUMNS), near)
  }
})

test.for(ADV_ESTIMATORS)('%s: masked advantages are 0 where verl clears them', (name) => {
  const { advantages } = computeAdvantages(name, batch(3))
  const masked = advantages.filter((_, i) => MASKS.flat()[i] === 0)
  const holes = [4 + 1, 20 + 1, 20 + 2].map((i) => advantages[i])
  if (name === 'gae') expect(masked.every((a) => a !== 0)).toBe(true)
  else if (name === 'remax') {
    expect(holes.every((a) => a !== 0)).toBe(true)
    expect(masked.filter((a) => a !== 0)).toHaveLength(3)
  } else expect([...masked]).toEqual(Array(masked.length).fill(0))
})

test.for([
  'grpo',
  'grpo_passk',
  'rloo',
  'rloo_vectorized',
  'opo',
  'reinforce_plus_plus_baseline',
] as const)('%s: a constant on every score changes nothing', (name) => {
  const rewards = randomValues(ROWS * COLUMNS, 5)
  const raised = rewards.map((r, i) => (i % COLUMNS === 1 ? r + 2 : r))
  // float32 rewards: adding 2 rounds them to 1e-7
  expectClose(
    computeAdvantages(name, batch(4, raised)).advantages,
    computeAdvantages(name, batch(4, rewards)).advantages,
    { rtol: 1e-5, atol: 1e-5 },
  )
})

test('what an estimator lacks is named', () => {
  const bare = input([[1, 0]], [[1, 1]])
  const message = (name: AdvEstimator, rows = bare) => expect(() => computeAdvantages(name, rows))
  message('gae').toThrow('adv_estimator gae needs values: expected 2 numbers, found none')
  message('remax').toThrow(/remax needs reward_baselines: expected 1 numbers, found none/)
  message('optimal_token_baseline').toThrow(/needs old_log_probs/)
  message('tir_optimal_token_baseline', { ...bare, old_log_probs: [-1, -1] }).toThrow(
    /needs sum_pi_squared/,
  )
  message('gae', { ...bare, values: [1] }).toThrow(/expected 2 numbers, found 1/)
  message('grpo', { ...bare, index: [] }).toThrow(/grpo needs index: expected 1 numbers, found 0/)
  message('grpo', { ...bare, token_level_rewards: [1] }).toThrow(/token_level_rewards: expected 2/)
  message('grpo', { ...bare, response_length: 3 }).toThrow(/rows of 3 columns, found 2/)
  message('vanilla' as AdvEstimator).toThrow(/expected one of grpo, gae, .*found vanilla/)
  message('reinforce_plus_plus', input([[1, 0]], [[1, 0]])).toThrow(RangeError)
})

test('a group is informative when its scores differ', () => {
  expect(informativeShare([1, 1, 0, 1, 0, 0, 0, 0], 2)).toBe(0.25)
})
