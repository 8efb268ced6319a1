import { expect, test } from 'vitest'
import { clippedLoss, gaeByHand, groupAdvantages, groupLoss, softmaxEntropy } from './by_hand.ts'

test('advantages of a group are those of a calculator', () => {
  expect(groupAdvantages([1, 0, 0, 0])[0]).toBeCloseTo(1.5, 5)
  expect(groupAdvantages([1, 0, 0, 0])[1]).toBeCloseTo(-0.5, 5)
  expect(groupAdvantages([1, 0, 0, 0], false)).toEqual([0.75, -0.25, -0.25, -0.25])
  expect(groupAdvantages([1, 1, 1])).toEqual([0, 0, 0])
  // One right of eight, and seven of eight.
  expect(groupAdvantages([1, 0, 0, 0, 0, 0, 0, 0])[0]).toBeCloseTo(2.475, 3)
  expect(groupAdvantages([0, 1, 1, 1, 1, 1, 1, 1])[1]).toBeCloseTo(0.354, 3)
})

test('GAE with λ = 1 is the reward minus the value, with λ = 0 the one-step surprise', () => {
  const all = gaeByHand([0, 0, 1], [0.4, 0.6, 0.3], 1, 1)
  for (const [i, value] of [0.6, 0.4, 0.7].entries()) expect(all.advantages[i]).toBeCloseTo(value)
  for (const value of all.returns) expect(value).toBeCloseTo(1)
  const one = gaeByHand([0, 0, 1], [0.4, 0.6, 0.3], 1, 0)
  for (const [i, value] of [0.2, -0.3, 0.7].entries()) expect(one.advantages[i]).toBeCloseTo(value)
})

test('the clip holds what has moved far enough the right way, and nothing else', () => {
  const clip = { clip_ratio_low: 0.2, clip_ratio_high: 0.2 }
  const good = clippedLoss(1.3, 1, clip)
  expect(good.loss).toBeCloseTo(-1.2)
  expect(good.is_clipped).toBe(true)
  const wrongWay = clippedLoss(1.3, -1, clip)
  expect(wrongWay.loss).toBeCloseTo(1.3)
  expect(wrongWay.is_clipped).toBe(false)
})

test('the loss of a group is 0 before its first update, without what rounding leaves of that', () => {
  const clip = { clip_ratio_low: 0.2, clip_ratio_high: 0.2 }
  for (const scores of [
    [1, 0, 0, 0],
    [1, 0, 0],
    [1, 0.3, 0.1, 0, 0],
  ]) {
    const advantages = groupAdvantages(scores)
    expect(
      groupLoss(
        scores.map(() => 1),
        advantages,
        clip,
      ),
    ).toBe(0)
    const moved = scores.map((_, i) => (i === 0 ? 1.1 : 1))
    expect(groupLoss(moved, advantages, clip)).toBeCloseTo((-0.1 * advantages[0]) / scores.length)
  }
})

test('the entropy of k tokens alike is ln k, whatever their logits are', () => {
  expect(softmaxEntropy([700, 700]).entropy).toBeCloseTo(Math.LN2)
  expect(softmaxEntropy([0, 0, 0, 0]).entropy).toBeCloseTo(Math.log(4))
  expect(softmaxEntropy([0, 1000]).entropy).toBe(0)
})
