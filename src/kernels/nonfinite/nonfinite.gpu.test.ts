import { expect, test } from 'vitest'
import { Gpu } from '../device/gpu.ts'
import { CONTROL } from '../optimizer/optimizer.ts'
import { randomValues } from '../testing.ts'
import { nonfiniteRef } from './nonfinite.ref.ts'
import {
  find_nonfinite_gradient,
  find_nonfinite_token,
  firstNonfinite,
  lastNonfinite,
} from './nonfinite.ts'

const gpu = await Gpu.open()
const BAD = [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]

async function find(
  kernel: typeof find_nonfinite_gradient,
  data: Float32Array,
  marks: Float32Array,
  { first = 0, slot = 0 } = {},
) {
  const found = gpu.tensor('found', 'u32', [3], { data: new Uint32Array(3) })
  await gpu.run(
    kernel,
    { count: data.length, first, slot },
    {
      values: gpu.tensor('values', 'f32', [data.length], { data }),
      marks: gpu.tensor('marks', 'f32', [marks.length], { data: marks }),
      found,
    },
  )
  const [slots] = await gpu.read(found)
  return [...slots].map(kernel === find_nonfinite_token ? firstNonfinite : lastNonfinite)
}

const leftOut = (flag: number) =>
  Float32Array.from(CONTROL, (name) => (name === 'is_finite' ? flag : 1))

test.for([1, 63, 64, 65, 4096, 10_007])('the first and the last of %i numbers', async (count) => {
  const mask = Float32Array.from({ length: count }, (_, i) => Number(i % 3 !== 1))
  for (const [k, bad] of BAD.entries()) {
    const data = randomValues(count, count + k)
    for (const at of [count - 1, Math.floor(count / 2), Math.floor(count / 2) + 1])
      if (at < count) data[at] = bad
    const [first] = nonfiniteRef(data, (i) => mask[i] !== 0)
    expect(await find(find_nonfinite_token, data, mask)).toEqual([first, undefined, undefined])
    const last = nonfiniteRef(data, () => true).at(-1)
    const found = await find(find_nonfinite_gradient, data, leftOut(0))
    expect(found).toEqual([last, undefined, undefined])
  }
})

test('large finite numbers and masked ones are none', async () => {
  const data = Float32Array.of(3.4e38, -3.4e38, Number.NaN, 1e-45, 0)
  const mask = Float32Array.of(1, 1, 0, 1, 1)
  expect(await find(find_nonfinite_token, data, mask)).toEqual([undefined, undefined, undefined])
})

test('gradients are looked at only where the step was left out, and go into their own slot', async () => {
  const data = Float32Array.of(1, 2, Number.NaN, Number.POSITIVE_INFINITY)
  const at = { first: 100, slot: 2 }
  expect(await find(find_nonfinite_gradient, data, leftOut(0), at)).toEqual([
    undefined,
    undefined,
    103,
  ])
  expect(await find(find_nonfinite_gradient, data, leftOut(1), at)).toEqual([
    undefined,
    undefined,
    undefined,
  ])
})
