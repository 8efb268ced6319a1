import { describe, expect, test } from 'vitest'
import { Gpu } from '../device/gpu.ts'
import { expectClose, randomValues } from '../testing.ts'
import { reduceRowsRef } from './reduce.ref.ts'
import { reduce_rows, reduce_rows_short } from './reduce.ts'

const gpu = await Gpu.open()

async function run(
  kernel: typeof reduce_rows,
  data: Float32Array,
  start: Float32Array,
  rows: number,
): Promise<Float32Array> {
  const cols = start.length
  const x = gpu.tensor('x', 'f32', [rows, cols], { data })
  const out = gpu.tensor('out', 'f32', [cols], { data: start })
  await gpu.run(kernel, { rows, cols }, { x, out })
  const [sums] = await gpu.read(out)
  gpu.free(x, out)
  return sums
}

describe.each([reduce_rows, reduce_rows_short])('$name', (kernel) => {
  // One, primes, eight slices of rows, one past four strides of them, many strides, one past a
  // workgroup of columns.
  test.for([
    [1, 1],
    [7, 13],
    [8, 8],
    [33, 9],
    [1000, 17],
    [3, 523],
    [64, 65],
  ])('adds the column sums to out at [%i, %i]', async ([rows, cols]) => {
    const [x, start] = [randomValues(rows * cols, rows), randomValues(cols, 7)]
    const expected = reduceRowsRef(x, { rows, cols }).map((sum, c) => sum + start[c])
    expectClose(await run(kernel, x, start, rows), expected, { atol: 1e-5 }) // sums of up to 1000 values
  })
})

test('more columns than one dimension of the grid holds are all summed', async () => {
  const cols = 64 * 65_535 + 1
  const sums = await run(
    reduce_rows_short,
    new Float32Array(2 * cols).fill(1),
    new Float32Array(cols),
    2,
  )
  expect(sums.every((sum) => sum === 2)).toBe(true)
})
