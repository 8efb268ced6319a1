import { test } from 'vitest'
import { Gpu } from '../gpu.ts'
import { expectClose, randomValues } from '../testing.ts'
import { reduce_rows_ref } from './reduce.ref.ts'
import { reduce_rows } from './reduce.ts'

const gpu = await Gpu.open()

async function run(data: Float32Array, start: Float32Array, rows: number): Promise<Float32Array> {
  const cols = start.length
  const x = gpu.tensor('x', 'f32', [rows, cols], { data })
  const out = gpu.tensor('out', 'f32', [cols], { data: start })
  await gpu.run(reduce_rows, { rows, cols }, { x, out })
  return (await gpu.read(out))[0]
}

// One, primes, a workgroup of 32 rows by 8 columns, one past it, many strides.
test.for([
  [1, 1],
  [7, 13],
  [32, 8],
  [33, 9],
  [1000, 17],
  [3, 523],
])('adds the column sums to out at [%i, %i]', async ([rows, cols]) => {
  const [x, start] = [randomValues(rows * cols, rows), randomValues(cols, 7)]
  const expected = reduce_rows_ref(x, { rows, cols }).map((sum, c) => sum + start[c])
  expectClose(await run(x, start, rows), expected, { atol: 1e-5 }) // sums of up to 1000 values
})
