import { expect, test } from 'vitest'

import { Gpu } from '../device/gpu.ts'
import { expectClose, randomValues } from '../testing.ts'
import { maskedSumRef } from './metrics.ref.ts'
import { masked_sum } from './metrics.ts'

const gpu = await Gpu.open()

test.for([
  [1, 1],
  [7, 3],
  [256, 2],
  [257, 5],
  [1000, 4],
])('masked_sum matches the reference at %i values in %i sets', async ([count, sets]) => {
  const data = randomValues(sets * count, count)
  const kept = Float32Array.from({ length: count }, (_, i) => (i % 3 === 1 ? 0 : 1))
  for (let i = 1; i < data.length && count > 1; i += count) data[i] = Number.NaN
  const values = gpu.tensor('values', 'f32', [sets, count], { data })
  const mask = gpu.tensor('mask', 'f32', [count], { data: kept })
  const sums = gpu.tensor('sums', 'f32', [sets], { data: new Float32Array(sets).fill(9) })
  await gpu.run(masked_sum, { count, sets }, { values, mask, sums })
  const [actual] = await gpu.read(sums)
  // Up to 1000 f32 values of magnitude 1 add up and partly cancel.
  expectClose(actual, maskedSumRef(data, kept, count, sets), { atol: 1e-5 })
  expect(actual.every(Number.isFinite)).toBe(true)
})
