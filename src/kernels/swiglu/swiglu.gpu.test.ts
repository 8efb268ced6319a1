import { test } from 'vitest'
import { Gpu } from '../device/gpu.ts'
import { expectClose, randomValues } from '../testing.ts'
import { swiglu_backward_ref, swiglu_forward_ref } from './swiglu.ref.ts'
import { swiglu_backward, swiglu_forward } from './swiglu.ts'

const gpu = await Gpu.open()

// One, primes, a workgroup, one past it. Scaled so that silu is near both of its asymptotes.
test.for([
  [1, 1],
  [3, 7],
  [2, 32],
  [5, 13],
])('forward and backward match the reference at [%i, %i]', async ([rows, intermediate_size]) => {
  const shape = { rows, intermediate_size }
  const count = rows * intermediate_size
  const gate_up_values = randomValues(2 * count, count).map((x) => x * 20)
  const d_out_values = randomValues(count, 1)
  const gate_up = gpu.tensor('gate_up', 'f32', [rows, 2, intermediate_size], {
    data: gate_up_values,
  })
  const d_out = gpu.tensor('d_out', 'f32', [rows, intermediate_size], { data: d_out_values })
  const out = gpu.tensor('out', 'f32', [rows, intermediate_size])
  const d_gate_up = gpu.tensor('d_gate_up', 'f32', [rows, 2, intermediate_size])
  await gpu.run(swiglu_forward, shape, { gate_up, out })
  await gpu.run(swiglu_backward, shape, { gate_up, d_out, d_gate_up })
  const [actual, d_actual] = await gpu.read(out, d_gate_up)
  expectClose(actual, swiglu_forward_ref(gate_up_values, shape))
  // 1 - sigmoid cancels at large gates: an absolute error of one rounding, times gate * up of up to
  // 400.
  const expected = swiglu_backward_ref(gate_up_values, d_out_values, shape)
  expectClose(d_actual, expected, { atol: 1e-4 })
})

test('gates beyond the range of exp give finite values', async () => {
  const gate_up = gpu.tensor('gate_up', 'f32', [1, 4], { data: Float32Array.of(-3e4, 3e4, 1, 2) })
  const out = gpu.tensor('out', 'f32', [1, 2])
  await gpu.run(swiglu_forward, { rows: 1, intermediate_size: 2 }, { gate_up, out })
  expectClose((await gpu.read(out))[0], [0, 6e4])
})

test('a grid folded into two dimensions covers every element', async () => {
  const shape = { rows: 47, intermediate_size: 7 } // 329 elements: 6 workgroups
  const [gate_up_values, d_out_values] = [randomValues(658, 1), randomValues(329, 2)]
  const gate_up = gpu.tensor('gate_up', 'f32', [47, 14], { data: gate_up_values })
  const d_out = gpu.tensor('d_out', 'f32', [47, 7], { data: d_out_values })
  const out = gpu.tensor('out', 'f32', [47, 7])
  const d_gate_up = gpu.tensor('d_gate_up', 'f32', [47, 14])
  const workgroups = () => [4, 2] as const
  await gpu.run({ ...swiglu_forward, workgroups }, shape, { gate_up, out })
  await gpu.run({ ...swiglu_backward, workgroups }, shape, { gate_up, d_out, d_gate_up })
  const [actual, d_actual] = await gpu.read(out, d_gate_up)
  expectClose(actual, swiglu_forward_ref(gate_up_values, shape))
  expectClose(d_actual, swiglu_backward_ref(gate_up_values, d_out_values, shape))
})
