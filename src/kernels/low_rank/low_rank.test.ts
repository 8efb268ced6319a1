import { expect, test } from 'vitest'
import { numericGradient, weightedSum } from '../numericGradient.ref.ts'
import { expectClose, randomValues } from '../testing.ts'
import { lowRankAddRef, lowRankGradRef } from './low_rank.ref.ts'
import { moduleParams } from './low_rank.ts'

test('each module adds scale · low · Bᵀ to its own columns', () => {
  // Two tokens, rank 1: the first module has columns 1 and 2, the second column 4.
  const columns = [
    { first: 1, rows: 2 },
    { first: 4, rows: 1 },
  ]
  const shape = { tokens: 2, width: 5, rank: 1, scale: 2, columns }
  const out = lowRankAddRef([1, 1, 1, 1, 1, 0, 0, 0, 0, 0], [3, 5, -1, 7], [10, 100, 1], shape)
  expectClose(out, [1, 61, 601, 1, 11, 0, -20, -200, 0, 14])
})

test('the backward is the gradient of the forward', () => {
  const columns = [
    { first: 2, rows: 3 },
    { first: 5, rows: 1 },
    { first: 6, rows: 2 },
  ]
  const shape = { tokens: 3, width: 9, rank: 2, scale: 1.5, columns }
  const [y, d_y] = [randomValues(27, 1), randomValues(27, 2)]
  const [low, b] = [randomValues(18, 3), randomValues(12, 4)]
  const { d_low, d_b } = lowRankGradRef(d_y, low, b, shape)
  const of = (x: Float64Array) => weightedSum(x, d_y)
  const byLow = numericGradient((x) => of(lowRankAddRef(y, x, b, shape)), low)
  const byB = numericGradient((x) => of(lowRankAddRef(y, low, x, shape)), b)
  expectClose(d_low, byLow, { atol: 1e-8 })
  expectClose(d_b, byB, { atol: 1e-8 })
})

test('modules that are not there have no rows', () => {
  expect(moduleParams([{ first: 3, rows: 4 }])).toEqual({
    first_0: 3,
    rows_0: 4,
    first_1: 0,
    rows_1: 0,
    first_2: 0,
    rows_2: 0,
  })
})
