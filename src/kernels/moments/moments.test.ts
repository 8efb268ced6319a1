import { expect, test } from 'vitest'
import { momentsRef } from './moments.ref.ts'

test('mean and spread of each set and of a difference, over what the mask counts', () => {
  const values = [1, 3, Number.NaN, 5, 5, 100]
  const { mean, std } = momentsRef(values, [1, 1, 0], [[0], [1], [1, 0]])
  expect([...mean]).toEqual([2, 5, 3])
  expect([...std]).toEqual([1, 0, 1])
})

test('nothing counted gives zeros', () => {
  const { mean, std } = momentsRef([1, 2], [0, 0], [[0]])
  expect([mean[0], std[0]]).toEqual([0, 0])
})
