import { test } from 'vitest'
import { Gpu } from '../device/gpu.ts'
import { reduce_rows } from '../reduce/reduce.ts'
import { expectClose, randomValues } from '../testing.ts'
import { rmsNormBackwardRef, rmsNormForwardRef } from './rms_norm.ref.ts'
import { rms_norm_backward, rms_norm_forward, rms_norm_weight_grad } from './rms_norm.ts'

const gpu = await Gpu.open()

const plain = { forward: rms_norm_forward, backward: rms_norm_backward }
/** What a GPU takes in their place. */
const shared = {
  forward: { ...rms_norm_forward, ...rms_norm_forward.onGpu },
  backward: { ...rms_norm_backward, ...rms_norm_backward.onGpu },
} as typeof plain

// One; primes; the last width that one invocation does alone, one past it; rows of several strides.
// Of a GPU's: the last such width, one past it, fewer columns than lanes, as many.
test.for([
  ['plain', 1, 1, plain],
  ['plain', 7, 13, plain],
  ['plain', 65, 3, plain],
  ['plain', 64, 256, plain],
  ['plain', 5, 257, plain],
  ['plain', 3, 523, plain],
  ['a GPU’s', 65, 8, shared],
  ['a GPU’s', 67, 9, shared],
  ['a GPU’s', 5, 64, shared],
  ['a GPU’s', 3, 201, shared],
] as const)(
  '%s forward and backward match the reference at [%i, %i]',
  async ([, rows, cols, { forward: forwardKernel, backward: backwardKernel }]) => {
    const eps = 1e-5
    const xValues = randomValues(rows * cols, rows + cols).map((x) => x * 20)
    const weightValues = randomValues(cols, 2)
    const dYValues = randomValues(rows * cols, 3)
    const dXStart = randomValues(rows * cols, 4)
    const x = gpu.tensor('x', 'f32', [rows, cols], { data: xValues })
    const weight = gpu.tensor('weight', 'f32', [cols], { data: weightValues })
    const d_y = gpu.tensor('d_y', 'f32', [rows, cols], { data: dYValues })
    const y = gpu.tensor('y', 'f32', [rows, cols])
    const inv_rms = gpu.tensor('inv_rms', 'f32', [rows])
    const d_x = gpu.tensor('d_x', 'f32', [rows, cols], { data: dXStart })
    const d_x_added = gpu.tensor('d_x_added', 'f32', [rows, cols], { data: dXStart })
    await gpu.run(forwardKernel, { rows, cols, eps }, { x, weight, y, inv_rms })
    const tensors = { x, weight, inv_rms, d_y }
    await gpu.run(backwardKernel, { rows, cols, accumulate: 0 }, { ...tensors, d_x })
    await gpu.run(backwardKernel, { rows, cols, accumulate: 1 }, { ...tensors, d_x: d_x_added })

    const forward = rmsNormForwardRef(xValues, weightValues, { rows, cols, eps })
    const backward = rmsNormBackwardRef(xValues, weightValues, dYValues, { rows, cols, eps })
    const read = await gpu.read(y, inv_rms, d_x, d_x_added)
    expectClose(read[0], forward.y)
    expectClose(read[1], forward.inv_rms)
    // A single column's gradient is all cancellation, of terms of up to d_y / |x|.
    expectClose(read[2], backward.d_x)
    expectClose(
      read[3],
      backward.d_x.map((d, i) => d + dXStart[i]),
    )
  },
)

test.for([
  [1, 1, 1],
  [7, 13, 3],
  [64, 64, 32],
  [65, 5, 32],
  [200, 3, 7],
])(
  'weight gradients of [%i, %i] in blocks of %i rows add up to the reference',
  async ([rows, cols, rows_per_block]) => {
    const [xValues, dYValues] = [randomValues(rows * cols, 1), randomValues(rows * cols, 2)]
    const ones = new Float32Array(cols).fill(1)
    const shape = { rows, cols, eps: 1e-5 }
    const blocks = Math.ceil(rows / rows_per_block)
    const invRmsValues = rmsNormForwardRef(xValues, ones, shape).inv_rms
    const x = gpu.tensor('x', 'f32', [rows, cols], { data: xValues })
    const d_y = gpu.tensor('d_y', 'f32', [rows, cols], { data: dYValues })
    const inv_rms = gpu.tensor('inv_rms', 'f32', [rows], {
      data: Float32Array.from(invRmsValues),
    })
    const partials = gpu.tensor('partials', 'f32', [blocks, cols])
    const d_weight = gpu.tensor('d_weight', 'f32', [cols])
    const sizes = { rows, cols, rows_per_block }
    await gpu.run(rms_norm_weight_grad, sizes, { x, inv_rms, d_y, partials })
    await gpu.run(reduce_rows, { rows: blocks, cols }, { x: partials, out: d_weight })
    const [first, total] = await gpu.read(gpu.view(partials, 'first', 0, [cols]), d_weight)
    const expected = rmsNormBackwardRef(xValues, ones, dYValues, shape).d_weight
    expectClose(total, expected, { atol: 1e-5 }) // sums of up to 200 values
    const block = { rows: Math.min(rows, rows_per_block), cols, eps: 1e-5 }
    const expectedFirst = rmsNormBackwardRef(xValues, ones, dYValues, block).d_weight
    expectClose(first, expectedFirst, { atol: 1e-5 })
  },
)

test.for([
  ['narrow', 321, 3],
  ['wide', 6, 258],
] as const)(
  'a grid folded into two dimensions covers every %s row once',
  async ([, rows, cols]) => {
    const shape = { rows, cols, eps: 1e-2 }
    const [xValues, weightValues] = [randomValues(rows * cols, 1), randomValues(cols, 2)]
    const dYValues = randomValues(rows * cols, 3)
    const x = gpu.tensor('x', 'f32', [rows, cols], { data: xValues })
    const weight = gpu.tensor('weight', 'f32', [cols], { data: weightValues })
    const d_y = gpu.tensor('d_y', 'f32', [rows, cols], { data: dYValues })
    const y = gpu.tensor('y', 'f32', [rows, cols])
    const inv_rms = gpu.tensor('inv_rms', 'f32', [rows])
    const d_x = gpu.tensor('d_x', 'f32', [rows, cols])
    const workgroups = () => [4, 2] as const // 6 are needed
    await gpu.run({ ...rms_norm_forward, workgroups }, shape, { x, weight, y, inv_rms })
    const backward = { ...rms_norm_backward, workgroups }
    await gpu.run(backward, { rows, cols, accumulate: 1 }, { x, weight, inv_rms, d_y, d_x })
    const read = await gpu.read(y, d_x)
    expectClose(read[0], rmsNormForwardRef(xValues, weightValues, shape).y)
    const expected = rmsNormBackwardRef(xValues, weightValues, dYValues, shape).d_x
    expectClose(read[1], expected, { atol: 1e-5 }) // 1 / rms of up to 10
  },
)

test('a folded grid covers every element of the weight gradient', async () => {
  const [rows, cols, rows_per_block] = [47, 7, 1] // 329 elements: 6 workgroups
  const [xValues, dYValues] = [randomValues(329, 1), randomValues(329, 2)]
  const x = gpu.tensor('x', 'f32', [rows, cols], { data: xValues })
  const d_y = gpu.tensor('d_y', 'f32', [rows, cols], { data: dYValues })
  const inv_rms = gpu.tensor('inv_rms', 'f32', [rows], { data: new Float32Array(rows).fill(2) })
  const partials = gpu.tensor('partials', 'f32', [rows, cols])
  const folded = { ...rms_norm_weight_grad, workgroups: () => [4, 2] as const }
  await gpu.run(folded, { rows, cols, rows_per_block }, { x, inv_rms, d_y, partials })
  const expected = xValues.map((value, i) => value * dYValues[i] * 2)
  expectClose((await gpu.read(partials))[0], expected)
})
