import { expect, test } from 'vitest'
import { Gpu } from '../device/gpu.ts'
import { expectClose, randomValues } from '../testing.ts'
import { momentsRef } from './moments.ref.ts'
import { moments, NOTHING } from './moments.ts'

const gpu = await Gpu.open()

async function run(
  data: Float32Array,
  kept: Float32Array,
  sets: readonly (readonly [number, number?])[],
) {
  const table = Uint32Array.from(sets.flatMap(([a, b = NOTHING]) => [a, b]))
  const count = kept.length
  const out = gpu.tensor('moments', 'f32', [sets.length, 2], {
    data: new Float32Array(2 * sets.length).fill(9),
  })
  await gpu.run(
    moments,
    { count, sets: sets.length },
    {
      values: gpu.tensor('values', 'f32', [data.length / count, count], { data }),
      mask: gpu.tensor('mask', 'f32', [count], { data: kept }),
      sets: gpu.tensor('sets', 'u32', [sets.length, 2], { data: table }),
      moments: out,
    },
  )
  const [read] = await gpu.read(out)
  return {
    mean: read.filter((_, i) => i % 2 === 0),
    std: read.filter((_, i) => i % 2 === 1),
  }
}

test.for([1, 7, 64, 65, 1000])('equals the reference at %i values', async (count) => {
  // Far from zero and close together: squares minus the square of the mean would lose the spread.
  const data = randomValues(3 * count, count).map((x) => 50 + x)
  const kept = Float32Array.from({ length: count }, (_, i) => (i % 3 === 1 ? 0 : 1))
  for (let i = 1; i < data.length && count > 1; i += count) data[i] = Number.NaN
  const sets = [[0], [2], [1, 0], [2, 1], [1, 1]] as const
  const actual = await run(data, kept, sets)
  const expected = momentsRef(data, kept, sets)
  expectClose(actual.mean, expected.mean, { atol: 1e-5 })
  expectClose(actual.std, expected.std, { atol: 1e-5 })
  expect([actual.mean[4], actual.std[4]]).toEqual([0, 0])
})

test('a mask of zeros gives zeros, whatever it hides', async () => {
  const hidden = new Float32Array(5).fill(Number.NaN)
  const { mean, std } = await run(hidden, new Float32Array(5), [[0]])
  expect([mean[0], std[0]]).toEqual([0, 0])
})
