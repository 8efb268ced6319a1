// Every statistic of a study against SciPy's and NumPy's numbers (scipy_numbers.json says which
// functions gave them).
import { describe, expect, test } from 'vitest'
import { equivalenceTest } from './equivalence.ts'
import { normalCdf, pairedPower, seedsNeeded, smallestEffect } from './power.ts'
import { bootstrapInterval, holm, signFlipTest, signTest } from './resampling.ts'
import {
  areaUnder,
  interquartileMean,
  performanceProfile,
  probabilityOfImprovement,
} from './rliable.ts'
import numbers from './scipy_numbers.json' with { type: 'json' }
import { studentCdf, studentQuantile, tInterval, tTest } from './student.ts'

describe('Student’s t', () => {
  test('its distribution and quantiles', () => {
    for (const [t, degrees, p] of numbers.cdf) expect(studentCdf(t, degrees)).toBeCloseTo(p, 11)
    for (const [p, degrees, t] of numbers.quantiles)
      expect(studentQuantile(p, degrees) / t).toBeCloseTo(1, 9)
  })

  test('intervals and p of a mean', () => {
    for (const { values, p_t, t_interval } of numbers.samples) {
      expect(tTest(values)).toBeCloseTo(p_t, 10)
      const { low, high } = tInterval(values) ?? { low: 0, high: 0 }
      expect(low).toBeCloseTo(t_interval[0], 9)
      expect(high).toBeCloseTo(t_interval[1], 9)
    }
    expect(tTest([1])).toBeUndefined()
    expect(tTest([0, 0, 0])).toBe(1)
  })
})

test('two one-sided t tests of a margin', () => {
  for (const { values, margin, p } of numbers.equivalence)
    expect(equivalenceTest(values, margin)).toBeCloseTo(p, 10)
  expect(equivalenceTest([1], 2)).toBeUndefined()
  expect(equivalenceTest([0.5, 0.5], 1)).toBe(0)
  expect(equivalenceTest([1.5, 1.5], 1)).toBe(1)
})

describe('resampling', () => {
  test('the bootstrap draws as numpy does', () => {
    for (const { values, bootstrap_2000 } of numbers.samples) {
      const found = bootstrapInterval(values, undefined, { resamples: 2000 })
      expect(found?.low).toBeCloseTo(bootstrap_2000[0], 12)
      expect(found?.high).toBeCloseTo(bootstrap_2000[1], 12)
    }
  })

  test('signs: the permutation test counts all choices, and the sign test looks at signs alone', () => {
    for (const { values, p_permutation, p_sign } of numbers.samples) {
      expect(signFlipTest(values)).toBeCloseTo(p_permutation, 12)
      expect(signTest(values)).toBeCloseTo(p_sign, 12)
    }
    expect(signFlipTest([])).toBe(1)
    expect(signTest([0, 0])).toBe(1)
  })

  test('many pairs are flipped by chance, near the exact p', () => {
    const many = Array.from({ length: 24 }, (_, i) => Math.sin(i * 7) + 0.35)
    expect(signFlipTest(many)).toBeCloseTo(tTest(many) ?? 0, 1)
  })

  test('Holm’s correction', () => {
    for (const [p, adjusted] of numbers.holm as [number[], number[]][])
      holm(p).forEach((q, i) => {
        expect(q).toBeCloseTo(adjusted[i], 14)
      })
  })
})

describe('few runs', () => {
  test('the interquartile mean, the profile and the probability of improvement', () => {
    for (const { values, interquartile_mean } of numbers.samples)
      expect(interquartileMean(values)).toBeCloseTo(interquartile_mean, 12)
    expect(performanceProfile([0.1, 0.5, 0.9, 0.5], [0, 0.5, 0.95])).toEqual([1, 0.25, 0])
    const { a, b, probability } = numbers.improvement
    expect(probabilityOfImprovement(a, b)).toBeCloseTo(probability, 12)
  })

  test('the area under a curve is its mean height', () => {
    expect(areaUnder({ at: [0, 1, 3], values: [0, 1, 1] })).toBeCloseTo(2.5 / 3, 12)
    expect(areaUnder({ at: [0, 1, 3], values: [0, 1, 1] }, 1)).toBeCloseTo(0.5, 12)
  })
})

test('power and the seeds that a difference needs', () => {
  expect(normalCdf(1.96)).toBeCloseTo(0.9750021, 6)
  for (const [n, effect, power] of numbers.power)
    expect(pairedPower(n, effect), `n ${n}, effect ${effect}`).toBeCloseTo(power, 5)
  for (const [effect, needed] of numbers.needed) expect(seedsNeeded(effect, 1)).toBe(needed)
  expect(seedsNeeded(0, 1)).toBeUndefined()
  expect(seedsNeeded(0.001, 1)).toBeUndefined()
  // The other way round, and what Cohen (1988) has for ten pairs at 80 %: d = 1.00.
  for (const n of [3, 8, 30]) expect(pairedPower(n, smallestEffect(n))).toBeCloseTo(0.8, 9)
  expect(smallestEffect(10)).toBeCloseTo(1, 2)
})
