import { expect, test } from 'vitest'
import { reinforce_plus_plus } from '../../rl/estimators/reinforce_plus_plus.ts'
import { advantageNoise, withoutNoise } from './advantage_noise.ts'

/** Advantages of REINFORCE++ for responses of 20 tokens that end with these rewards. */
function whitened(rewards: readonly number[]): readonly number[] {
  const response_length = 20
  const size = rewards.length * response_length
  const token_level_rewards = new Float64Array(size)
  for (const [i, reward] of rewards.entries())
    token_level_rewards[(i + 1) * response_length - 1] = reward
  const input = {
    token_level_rewards,
    response_mask: new Float64Array(size).fill(1),
    response_length,
    index: rewards.map((_, i) => i),
  }
  return [...reinforce_plus_plus.estimate(input as never, {}).advantages]
}

test.each([[1], [0.3], [40], [-2], [1e-3]])('equal rewards of %d have no advantage', (reward) => {
  const rewards = Array(5).fill(reward)
  const left = whitened(rewards)
  // Something is left, which a scale of its own would paint in full colour.
  expect(Math.max(...left.map(Math.abs))).toBeGreaterThan(0)
  const noise = advantageNoise(rewards, left)
  expect(noise.isAlike).toBe(true)
  expect(left.map((one) => withoutNoise(one, noise)).every((one) => one === 0)).toBe(true)
})

test('rewards that float32 cannot tell apart are alike, and others are not', () => {
  const far = [1, 1 + 2 ** -20]
  expect(advantageNoise([1, 1 + 2 ** -25], [0, 1e-6]).isAlike).toBe(true)
  expect(advantageNoise(far, [0, 1e-6]).isAlike).toBe(false)
  const advantages = whitened(far)
  const noise = advantageNoise(far, advantages)
  expect(advantages.map((one) => withoutNoise(one, noise))).toEqual(advantages)
})

test('what a critic or a whole batch makes of equal rewards is no noise', () => {
  const noise = advantageNoise([1, 1], [0.8, -0.01, 1e-12])
  expect(noise.isAlike).toBe(false)
  expect([0.8, -0.01, 1e-12].map((one) => withoutNoise(one, noise))).toEqual([0.8, -0.01, 0])
})

test('where all scored nothing, and where nothing was computed, nothing is left over', () => {
  expect(advantageNoise([0, 0], [0, 0])).toEqual({ floor: 0, isAlike: true })
  expect(advantageNoise([1, 0], [Number.NaN]).floor).toBe(0)
})
