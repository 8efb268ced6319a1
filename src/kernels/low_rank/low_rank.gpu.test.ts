import { test } from 'vitest'
import { Gpu } from '../device/gpu.ts'
import { expectClose, randomValues } from '../testing.ts'
import { lowRankAddRef, lowRankGradRef } from './low_rank.ref.ts'
import {
  low_rank_add,
  low_rank_input_grad,
  low_rank_weight_grad,
  moduleParams,
} from './low_rank.ts'

const gpu = await Gpu.open()

/** Tokens, width, rank, and first column and rows of each module. */
type Case = [number, number, number, ...[number, number][]]

// One of everything, primes, two and three modules, one past a workgroup, a product of which two of
// three modules are adapted.
test.for<Case>([
  [1, 1, 1, [0, 1]],
  [5, 13, 3, [0, 13]],
  [65, 24, 8, [0, 12], [12, 12]],
  [7, 29, 5, [0, 11], [11, 7], [18, 11]],
  [33, 40, 4, [0, 20], [30, 10]],
])('the three kernels match the reference: %j', async ([tokens, width, rank, ...modules]) => {
  const columns = modules.map(([first, rows]) => ({ first, rows }))
  const scale = 1.75
  const rows = columns.reduce((n, module) => n + module.rows, 0)
  const slots = columns.length
  const values = {
    y: randomValues(tokens * width, 1),
    d_y: randomValues(tokens * width, 2),
    low: randomValues(tokens * slots * rank, 3),
    b: randomValues(rows * rank, 4),
    d_b: randomValues(rows * rank, 5),
  }
  const upload = (name: keyof typeof values, ...shape: number[]) =>
    gpu.tensor(name, 'f32', shape, { data: values[name] })
  const y = upload('y', tokens, width)
  const d_y = upload('d_y', tokens, width)
  const low = upload('low', tokens, slots * rank)
  const b = upload('b', rows, rank)
  const d_b = upload('d_b', rows, rank)
  const d_low = gpu.tensor('d_low', 'f32', [tokens, slots * rank])
  const params = { tokens, width, rank, scale, ...moduleParams(columns) }
  await gpu.run(low_rank_add, params, { low, b, y })
  await gpu.run(low_rank_input_grad, params, { d_y, b, d_low })
  await gpu.run(low_rank_weight_grad, params, { d_y, low, d_b })
  const [added, toLow, toB] = await gpu.read(y, d_low, d_b)
  const shape = { tokens, width, rank, scale, columns }
  expectClose(added, lowRankAddRef(values.y, values.low, values.b, shape))
  const expected = lowRankGradRef(values.d_y, values.low, values.b, shape)
  expectClose(toLow, expected.d_low, { atol: 1e-5 })
  expectClose(
    toB,
    expected.d_b.map((x, i) => x + values.d_b[i]),
    { atol: 1e-5 },
  )
})
