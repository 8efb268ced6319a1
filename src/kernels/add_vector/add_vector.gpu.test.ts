import { expect, test } from 'vitest'
import { Gpu } from '../device/gpu.ts'
import { randomValues } from '../testing.ts'
import { addVectorRef } from './add_vector.ref.ts'
import { add_vector } from './add_vector.ts'

const gpu = await Gpu.open()

// One, primes, one past a workgroup, more than one.
test.for([
  [1, 1],
  [7, 13],
  [5, 13],
  [3, 64],
  [130, 20],
])('adds the vector to each of %i rows of %i', async ([rows, cols]) => {
  const [data, direction] = [randomValues((rows + 1) * cols, rows), randomValues(cols, 7)]
  const state = gpu.tensor('state', 'f32', [rows + 1, cols], { data })
  const vector = gpu.tensor('vector', 'f32', [cols], { data: direction })
  await gpu.run(add_vector, { rows, cols }, { vector, state })
  const [found] = await gpu.read(state)
  const expected = Float32Array.from(addVectorRef(data.subarray(0, rows * cols), direction))
  expect(found.subarray(0, rows * cols)).toEqual(expected)
  // The row behind them is left as it is.
  expect(found.subarray(rows * cols)).toEqual(data.subarray(rows * cols))
  gpu.free(state, vector)
})
