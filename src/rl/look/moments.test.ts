import { expect, test } from 'vitest'
import { RL, SFT } from '../testing.ts'
import { isShortInner, MOMENTS_SHARE, Moments } from './moments.ts'

/** Steps that were looked at in a run of equal steps; at every tenth step, and around `ends`. */
function taken(steps: number, perStep: number, cost: number, ends: readonly number[]) {
  const moments = new Moments()
  const at: number[] = []
  let own = 0
  for (let step = 1; step <= steps; step++) {
    own += perStep
    const isEnd = ends.includes(step)
    if (!isEnd && step % 10 !== 0) continue
    const dispatches = own + at.length * cost
    if (!moments.fits({ dispatches, steps: step, planned: steps }, isEnd)) continue
    moments.take(cost, false)
    at.push(step)
  }
  return at
}

test('all that is looked at stays within its share of the run’s own work', () => {
  for (const [perStep, cost] of [
    [150, 320],
    [2000, 320],
    [90, 700],
  ]) {
    const at = taken(400, perStep, cost, [66, 67, 70])
    expect(at.length * cost).toBeLessThanOrEqual(MOMENTS_SHARE * 400 * perStep)
    expect(at.length).toBeGreaterThan(0)
  }
})

test('the ends of phases may draw on steps to come, other moments wait', () => {
  expect(taken(120, 200, 320, [66, 67, 70, 71])).toEqual([40, 66, 67])
  expect(taken(120, 2000, 320, [66, 67, 70, 71])).toEqual(
    expect.arrayContaining([66, 67, 70, 71, 120]),
  )
})

test('a phase that trains an inner layer for a few steps is looked at in each of them', () => {
  const inner = { ...RL, target_layer: 2 }
  expect([4, 10, 11].map((steps) => isShortInner({ ...inner, steps }, 3))).toEqual([
    true,
    true,
    false,
  ])
  expect(isShortInner({ ...RL, steps: 4, target_layer: 3 }, 3)).toBe(false)
  expect(isShortInner({ ...SFT, steps: 4 }, 3)).toBe(false)
})

test('what a short phase takes leaves the share of the rest as it is', () => {
  const fits = (moments: Moments, extra: number) =>
    moments.fits({ dispatches: 40 * 200 + extra, steps: 40, planned: 120 }, false)
  const plain = new Moments()
  plain.take(320, false)
  const short = new Moments()
  for (let step = 0; step < 4; step++) short.take(320, true)
  short.take(320, false)
  expect(fits(plain, 320)).toBe(fits(short, 5 * 320))
  const spent = new Moments()
  for (let step = 0; step < 5; step++) spent.take(320, false)
  expect(fits(spent, 5 * 320)).toBe(false)
  expect(fits(short, 5 * 320)).toBe(false)
  const little = new Moments()
  for (let step = 0; step < 4; step++) little.take(320, true)
  expect(fits(little, 4 * 320)).toBe(true)
})
