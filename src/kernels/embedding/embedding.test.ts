import { expect, test } from 'vitest'

import { expectClose, randomValues } from '../testing.ts'
import { embeddingBackwardRef, embeddingForwardRef } from './embedding.ref.ts'

test('forward picks rows and backward adds to them', () => {
  expect([...embeddingForwardRef([1, 0, 1], [1, 2, 3, 4], 2)]).toEqual([3, 4, 1, 2, 3, 4])
  const d_weight = embeddingBackwardRef([1, 0, 1], [1, 2, 3, 4, 5, 6], [10, 10, 20, 20], 2)
  expect([...d_weight]).toEqual([13, 14, 26, 28])
  const padded = embeddingBackwardRef([1, 0, 1], [1, 2, 3, 4, 5, 6], [10, 10, 20, 20], 2, 1)
  expect([...padded]).toEqual([13, 14, 20, 20])
})

test('backward is the slope of the forward, by central differences', () => {
  const inputIds = [2, 0, 2, 3]
  const weight = Float64Array.from(randomValues(4 * 3, 1))
  const d_out = randomValues(4 * 3, 2)
  const loss = () =>
    embeddingForwardRef(inputIds, weight, 3).reduce((sum, x, i) => sum + x * d_out[i], 0)
  const slopes = weight.map((x, i) => {
    weight[i] = x + 1e-4
    const above = loss()
    weight[i] = x - 1e-4
    const below = loss()
    weight[i] = x
    return (above - below) / 2e-4
  })
  expectClose(embeddingBackwardRef(inputIds, d_out, new Float64Array(12), 3), slopes)
})
