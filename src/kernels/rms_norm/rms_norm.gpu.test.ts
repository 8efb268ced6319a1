import { test } from 'vitest'
import { Gpu } from '../device/gpu.ts'
import { reduce_rows } from '../reduce/reduce.ts'
import { expectClose, randomValues } from '../testing.ts'
import { rms_norm_backward_ref, rms_norm_forward_ref } from './rms_norm.ref.ts'
import { rms_norm_backward, rms_norm_forward, rms_norm_weight_grad } from './rms_norm.ts'

const gpu = await Gpu.open()

// One; primes; the last width that one invocation does alone, one past it; rows of several strides.
test.for([
  [1, 1],
  [7, 13],
  [65, 3],
  [64, 256],
  [5, 257],
  [3, 523],
])('forward and backward match the reference at [%i, %i]', async ([rows, cols]) => {
  const eps = 1e-5
  const x_values = randomValues(rows * cols, rows + cols).map((x) => x * 20)
  const weight_values = randomValues(cols, 2)
  const d_y_values = randomValues(rows * cols, 3)
  const d_x_start = randomValues(rows * cols, 4)
  const x = gpu.tensor('x', 'f32', [rows, cols], { data: x_values })
  const weight = gpu.tensor('weight', 'f32', [cols], { data: weight_values })
  const d_y = gpu.tensor('d_y', 'f32', [rows, cols], { data: d_y_values })
  const y = gpu.tensor('y', 'f32', [rows, cols])
  const inv_rms = gpu.tensor('inv_rms', 'f32', [rows])
  const d_x = gpu.tensor('d_x', 'f32', [rows, cols], { data: d_x_start })
  const d_x_added = gpu.tensor('d_x_added', 'f32', [rows, cols], { data: d_x_start })
  await gpu.run(rms_norm_forward, { rows, cols, eps }, { x, weight, y, inv_rms })
  const tensors = { x, weight, inv_rms, d_y }
  await gpu.run(rms_norm_backward, { rows, cols, accumulate: 0 }, { ...tensors, d_x })
  await gpu.run(rms_norm_backward, { rows, cols, accumulate: 1 }, { ...tensors, d_x: d_x_added })

  const forward = rms_norm_forward_ref(x_values, weight_values, { rows, cols, eps })
  const backward = rms_norm_backward_ref(x_values, weight_values, d_y_values, { rows, cols, eps })
  const read = await gpu.read(y, inv_rms, d_x, d_x_added)
  expectClose(read[0], forward.y)
  expectClose(read[1], forward.inv_rms)
  // A single column's gradient is all cancellation, of terms of up to d_y / |x|.
  expectClose(read[2], backward.d_x)
  expectClose(
    read[3],
    backward.d_x.map((d, i) => d + d_x_start[i]),
  )
})

test.for([
  [1, 1, 1],
  [7, 13, 3],
  [64, 64, 32],
  [65, 5, 32],
  [200, 3, 7],
])(
  'weight gradients of [%i, %i] in blocks of %i rows add up to the reference',
  async ([rows, cols, rows_per_block]) => {
    const [x_values, d_y_values] = [randomValues(rows * cols, 1), randomValues(rows * cols, 2)]
    const ones = new Float32Array(cols).fill(1)
    const shape = { rows, cols, eps: 1e-5 }
    const blocks = Math.ceil(rows / rows_per_block)
    const inv_rms_values = rms_norm_forward_ref(x_values, ones, shape).inv_rms
    const x = gpu.tensor('x', 'f32', [rows, cols], { data: x_values })
    const d_y = gpu.tensor('d_y', 'f32', [rows, cols], { data: d_y_values })
    const inv_rms = gpu.tensor('inv_rms', 'f32', [rows], {
      data: Float32Array.from(inv_rms_values),
    })
    const partials = gpu.tensor('partials', 'f32', [blocks, cols])
    const d_weight = gpu.tensor('d_weight', 'f32', [cols])
    const sizes = { rows, cols, rows_per_block }
    await gpu.run(rms_norm_weight_grad, sizes, { x, inv_rms, d_y, partials })
    await gpu.run(reduce_rows, { rows: blocks, cols }, { x: partials, out: d_weight })
    const [first, total] = await gpu.read(gpu.view(partials, 'first', 0, [cols]), d_weight)
    const expected = rms_norm_backward_ref(x_values, ones, d_y_values, shape).d_weight
    expectClose(total, expected, { atol: 1e-5 }) // sums of up to 200 values
    const block = { rows: Math.min(rows, rows_per_block), cols, eps: 1e-5 }
    const expected_first = rms_norm_backward_ref(x_values, ones, d_y_values, block).d_weight
    expectClose(first, expected_first, { atol: 1e-5 })
  },
)

test.for([
  ['narrow', 321, 3],
  ['wide', 6, 258],
] as const)(
  'a grid folded into two dimensions covers every %s row once',
  async ([, rows, cols]) => {
    const shape = { rows, cols, eps: 1e-2 }
    const [x_values, weight_values] = [randomValues(rows * cols, 1), randomValues(cols, 2)]
    const d_y_values = randomValues(rows * cols, 3)
    const x = gpu.tensor('x', 'f32', [rows, cols], { data: x_values })
    const weight = gpu.tensor('weight', 'f32', [cols], { data: weight_values })
    const d_y = gpu.tensor('d_y', 'f32', [rows, cols], { data: d_y_values })
    const y = gpu.tensor('y', 'f32', [rows, cols])
    const inv_rms = gpu.tensor('inv_rms', 'f32', [rows])
    const d_x = gpu.tensor('d_x', 'f32', [rows, cols])
    const workgroups = () => [4, 2] as const // 6 are needed
    await gpu.run({ ...rms_norm_forward, workgroups }, shape, { x, weight, y, inv_rms })
    const backward = { ...rms_norm_backward, workgroups }
    await gpu.run(backward, { rows, cols, accumulate: 1 }, { x, weight, inv_rms, d_y, d_x })
    const read = await gpu.read(y, d_x)
    expectClose(read[0], rms_norm_forward_ref(x_values, weight_values, shape).y)
    const expected = rms_norm_backward_ref(x_values, weight_values, d_y_values, shape).d_x
    expectClose(read[1], expected, { atol: 1e-5 }) // 1 / rms of up to 10
  },
)

test('a folded grid covers every element of the weight gradient', async () => {
  const [rows, cols, rows_per_block] = [47, 7, 1] // 329 elements: 6 workgroups
  const [x_values, d_y_values] = [randomValues(329, 1), randomValues(329, 2)]
  const x = gpu.tensor('x', 'f32', [rows, cols], { data: x_values })
  const d_y = gpu.tensor('d_y', 'f32', [rows, cols], { data: d_y_values })
  const inv_rms = gpu.tensor('inv_rms', 'f32', [rows], { data: new Float32Array(rows).fill(2) })
  const partials = gpu.tensor('partials', 'f32', [rows, cols])
  const folded = { ...rms_norm_weight_grad, workgroups: () => [4, 2] as const }
  await gpu.run(folded, { rows, cols, rows_per_block }, { x, inv_rms, d_y, partials })
  const expected = x_values.map((value, i) => value * d_y_values[i] * 2)
  expectClose((await gpu.read(partials))[0], expected)
})
