import { test } from 'vitest'
import { expectClose } from '../testing.ts'
import { rowCosineRef } from './cosine.ref.ts'

test('parallel, opposite, orthogonal and zero rows', () => {
  const x = [3, 4, 3, 4, 3, 4, 3, 4, 3, 4]
  const y = [6, 8, -3, -4, -4, 3, 0, 0, 5, 0]
  const { cosine, norm_x, norm_y } = rowCosineRef(x, y, { rows: 5, cols: 2 })
  expectClose(cosine, [1, -1, 0, 0, 0.6], { atol: 1e-15 })
  expectClose(norm_x, [5, 5, 5, 5, 5], { atol: 1e-15 })
  expectClose(norm_y, [10, 5, 5, 0, 5], { atol: 1e-15 })
})

test('below a norm of 1e-8 the cosine fades, as torch’s does', () => {
  const { cosine } = rowCosineRef([1e-9, 0], [1, 1], { rows: 1, cols: 2 })
  expectClose(cosine, [0.1 / Math.SQRT2], { atol: 1e-15 })
})
