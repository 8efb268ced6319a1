import { expect, test } from 'vitest'
import { formatNumber, formatPercent } from '../kit/format.ts'
import {
  IDEAL_CLIP_FRACTION,
  IDEAL_EXPLAINED_VARIANCE,
  IDEAL_PPO_KL,
  idealWords,
  placeWords,
  shownIdeal,
} from './ideal.ts'

test('the band is the part of the range that the axis shows', () => {
  expect(shownIdeal(IDEAL_CLIP_FRACTION, [0, 0.5])).toEqual([0, 0.2])
  // All of the axis is as it should be, or nothing of it.
  expect(shownIdeal(IDEAL_CLIP_FRACTION, [0, 0.04])).toEqual([0, 0.04])
  expect(shownIdeal(IDEAL_EXPLAINED_VARIANCE, [-4, 0])).toBeUndefined()
  expect(shownIdeal(IDEAL_EXPLAINED_VARIANCE, [-1, 2])).toEqual([0, 1])
  // A logarithmic axis begins above 0.
  expect(shownIdeal(IDEAL_PPO_KL, [0.001, 1])).toEqual([0.001, 0.05])
})

test('the range is said in words, and where a value lies', () => {
  expect(idealWords(IDEAL_CLIP_FRACTION, formatPercent)).toMatch(/^Ideal: below 20\s%$/)
  expect(idealWords(IDEAL_PPO_KL, formatNumber)).toBe('Ideal: −0.05 to 0.05')
  expect(idealWords({ low: 3, why: '' }, formatNumber)).toBe('Ideal: above 3')
  expect([-0.2, 0, 0.3].map((value) => placeWords(IDEAL_PPO_KL, value))).toEqual([
    'the value is below it',
    'the value is within it',
    'the value is above it',
  ])
  expect(placeWords(IDEAL_PPO_KL, undefined)).toBe('')
  expect(placeWords(IDEAL_PPO_KL, Number.NaN)).toBe('')
})
