import { expect, test } from 'vitest'
import { MOMENTS_SHARE, Moments } from './moments.ts'

/** Steps that were looked at in a run of equal steps; at every tenth step, and around `ends`. */
function taken(steps: number, per_step: number, cost: number, ends: readonly number[]) {
  const moments = new Moments()
  const at: number[] = []
  let own = 0
  for (let step = 1; step <= steps; step++) {
    own += per_step
    const is_end = ends.includes(step)
    if (!is_end && step % 10 !== 0) continue
    const dispatches = own + at.length * cost
    if (!moments.fits({ dispatches, steps: step, planned: steps }, is_end)) continue
    moments.take(cost)
    at.push(step)
  }
  return at
}

test('all that is looked at stays within its share of the run’s own work', () => {
  for (const [per_step, cost] of [
    [150, 320],
    [2000, 320],
    [90, 700],
  ]) {
    const at = taken(400, per_step, cost, [66, 67, 70])
    expect(at.length * cost).toBeLessThanOrEqual(MOMENTS_SHARE * 400 * per_step)
    expect(at.length).toBeGreaterThan(0)
  }
})

test('the ends of phases may draw on steps to come, other moments wait', () => {
  expect(taken(120, 200, 320, [66, 67, 70, 71])).toEqual([40, 66, 67])
  expect(taken(120, 2000, 320, [66, 67, 70, 71])).toEqual(
    expect.arrayContaining([66, 67, 70, 71, 120]),
  )
})
