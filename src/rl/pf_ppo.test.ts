import { expect, test } from 'vitest'
import { expectClose, randomValues } from '../kernels/testing.ts'
import { pfPpoWeights, type ReweightMethod, resampledRows } from './pf_ppo.ts'

const weights = (scores: number[], reweight_method: ReweightMethod, weight_pow = 2) =>
  pfPpoWeights(scores, { reweight_method, weight_pow })
const EXACT = { rtol: 1e-12, atol: 0 }

test('weights by power, by extremes and by the best', () => {
  const e = 1e-8
  const scores = [-2, 0, 1, 3, 3]
  expectClose(weights(scores, 'pow'), [4 + e, e, 1 + e, 9 + e, 9 + e], EXACT)
  expectClose(weights([-8, 4], 'pow', 0.5), [Math.sqrt(8) + e, 2 + e], EXACT)
  expectClose(weights(scores, 'max_min'), [1 + e, e, e, 1 + e, 1 + e], EXACT)
  expectClose(weights(scores, 'max_random'), [0.1 + e, 0.1 + e, 0.1 + e, 0.4 + e, 0.4 + e], EXACT)
})

test('rows come by their share of the weights', () => {
  // shares up to 0.25, 0.25, 0.5, 1
  const rows = resampledRows([1, 0, 1, 2], [0, 0.2499, 0.25, 0.4999, 0.5, 0.9999])
  expect([...rows]).toEqual([0, 0, 2, 2, 3, 3])
  expect([...resampledRows([0, 1], [0])]).toEqual([1])
})

test('many draws follow the weights', () => {
  const draws = 20000
  const uniforms = randomValues(draws, 3).map((x) => Math.min((x + 1) / 2, 1 - 2 ** -24))
  const counts = [0, 0, 0]
  for (const row of resampledRows([1, 2, 5], uniforms)) counts[row]++
  // four standard deviations of a share of 20000 draws are below 0.0142
  expectClose(
    counts.map((n) => n / draws),
    [1 / 8, 2 / 8, 5 / 8],
    { atol: 0.0142, rtol: 0 },
  )
})

test('when all scores are 0 every row is as likely', () => {
  expect([...resampledRows(weights([0, 0, 0, 0], 'pow'), [0.1, 0.3, 0.6, 0.9])]).toEqual([
    0, 1, 2, 3,
  ])
})

test('bad input is named', () => {
  expect(() => weights([1], 'best' as ReweightMethod)).toThrow(
    /pow, max_min, max_random, found best/,
  )
  expect(() => weights([0, 1], 'pow', -1)).toThrow(/row 0: expected a finite weight/)
  expect(() => resampledRows([1, 1], [1])).toThrow(/in \[0, 1\), found 1/)
  expect(() => resampledRows([0, 0], [0.5])).toThrow(/a sum above 0, found 0/)
})
