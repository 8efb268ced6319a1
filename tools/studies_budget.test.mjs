import { expect, test } from 'vitest'
import { chosen, missingOf, secondsOf } from './studies_budget.mjs'

test('a budget is a number with its unit', () => {
  expect(['2h', '90m', '1.5min', '45s'].map(secondsOf)).toEqual([7200, 5400, 90, 45])
  expect(['2', 'h', '-2h', '2 h', ''].map(secondsOf)).toEqual(Array(5).fill(undefined))
})

test('what fits is taken in its order, then what nothing is known of', () => {
  const studies = [
    { name: 'done', runs: 0, seconds: 0 },
    { name: 'new', runs: 40 },
    { name: 'long', runs: 9, seconds: 900 },
    { name: 'short', runs: 3, seconds: 60 },
    { name: 'also short', runs: 3, seconds: 50 },
    { name: 'too long by then', runs: 3, seconds: 30 },
  ]
  expect(chosen(studies, 120).map(({ name }) => name)).toEqual(['short', 'also short', 'new'])
})

test('what is missing is read from the dry run', () => {
  expect(missingOf('a: 2 arms\n12 runs are missing, about 340 s\n')).toEqual({
    runs: 12,
    seconds: 340,
  })
  expect(missingOf('12 runs are missing\n')).toEqual({ runs: 12, seconds: undefined })
  expect(() => missingOf('')).toThrow('did not say')
})
