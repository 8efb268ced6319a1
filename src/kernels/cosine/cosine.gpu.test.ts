import { expect, test } from 'vitest'
import { Gpu } from '../device/gpu.ts'
import { expectClose, randomValues } from '../testing.ts'
import { rowCosineRef } from './cosine.ref.ts'
import { row_cosine } from './cosine.ts'

const gpu = await Gpu.open()

async function cosines(x: Float32Array, y: Float32Array, rows: number, kernel = row_cosine) {
  const cols = x.length / rows
  const out = (label: string) =>
    gpu.tensor(label, 'f32', [rows], { data: new Float32Array(rows).fill(9) })
  const tensors = {
    x: gpu.tensor('x', 'f32', [rows, cols], { data: x }),
    y: gpu.tensor('y', 'f32', [rows, cols], { data: y }),
    cosine: out('cosine'),
    norm_x: out('norm_x'),
    norm_y: out('norm_y'),
  }
  await gpu.run(kernel, { rows, cols }, tensors)
  const [cosine, norm_x, norm_y] = await gpu.read(tensors.cosine, tensors.norm_x, tensors.norm_y)
  return { cosine, norm_x, norm_y }
}

test.for([
  [1, 1],
  [65, 7],
  [130, 64],
  [3, 256],
  [3, 257],
  [5, 2048],
])('equals the reference at [%i, %i]', async ([rows, cols]) => {
  const x = randomValues(rows * cols, cols)
  // Close to x in every second row, so that cosines near 1 are among them.
  const y = randomValues(rows * cols, cols + 1).map((v, i) =>
    Math.floor(i / cols) % 2 ? 3 * x[i] + 0.1 * v : 100 * v,
  )
  const actual = await cosines(x, y, rows)
  const expected = rowCosineRef(x, y, { rows, cols })
  expectClose(actual.cosine, expected.cosine, { atol: 2e-6 })
  expectClose(actual.norm_x, expected.norm_x)
  expectClose(actual.norm_y, expected.norm_y)
})

test.for([3, 300])('zero, tiny, equal and opposite rows of %i columns', async (cols) => {
  const row = randomValues(cols, 4)
  const rows = [row, row, row, row.map((v) => -v), row.map((v) => v * 1e-12)]
  const x = Float32Array.from(rows.flatMap((r) => [...r]))
  const others = [row.map(() => 0), row, row.map((v) => 1e6 * v), row, row.map((v) => v * 1e-12)]
  const y = Float32Array.from(others.flatMap((r) => [...r]))
  const { cosine, norm_y } = await cosines(x, y, 5)
  expect([cosine[0], norm_y[0]]).toEqual([0, 0])
  expectClose(cosine.subarray(1, 4), [1, 1, -1])
  const expected = rowCosineRef(x, y, { rows: 5, cols })
  expectClose(cosine.subarray(4), expected.cosine.subarray(4), { atol: 0, rtol: 1e-5 })
})

test('a row that holds NaN spoils no other row', async () => {
  const cols = 5
  const x = randomValues(3 * cols, 1)
  x[cols + 2] = Number.NaN
  const y = randomValues(3 * cols, 2)
  const { cosine } = await cosines(x, y, 3)
  const expected = rowCosineRef(x, y, { rows: 3, cols }).cosine
  expectClose([cosine[0], cosine[2]], [expected[0], expected[2]])
})

test.for([
  [321, 3],
  [6, 258],
])('a grid folded into two dimensions covers [%i, %i] once', async ([rows, cols]) => {
  const [x, y] = [randomValues(rows * cols, 1), randomValues(rows * cols, 2)]
  const folded = { ...row_cosine, workgroups: () => [4, 2] as const } // 6 are needed
  const actual = await cosines(x, y, rows, folded)
  expectClose(actual.cosine, rowCosineRef(x, y, { rows, cols }).cosine, { atol: 2e-6 })
})
