import { test } from 'vitest'
import { Gpu } from '../device/gpu.ts'
import { expectClose, randomValues } from '../testing.ts'
import { swigluBackwardRef, swigluForwardRef } from './swiglu.ref.ts'
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
  const gateUpValues = randomValues(2 * count, count).map((x) => x * 20)
  const dOutValues = randomValues(count, 1)
  const gate_up = gpu.tensor('gate_up', 'f32', [rows, 2, intermediate_size], {
    data: gateUpValues,
  })
  const d_out = gpu.tensor('d_out', 'f32', [rows, intermediate_size], { data: dOutValues })
  const out = gpu.tensor('out', 'f32', [rows, intermediate_size])
  const d_gate_up = gpu.tensor('d_gate_up', 'f32', [rows, 2, intermediate_size])
  await gpu.run(swiglu_forward, shape, { gate_up, out })
  await gpu.run(swiglu_backward, shape, { gate_up, d_out, d_gate_up })
  const [actual, dActual] = await gpu.read(out, d_gate_up)
  expectClose(actual, swigluForwardRef(gateUpValues, shape))
  // 1 - sigmoid cancels at large gates: an absolute error of one rounding, times gate * up of up to
  // 400.
  const expected = swigluBackwardRef(gateUpValues, dOutValues, shape)
  expectClose(dActual, expected, { atol: 1e-4 })
})

test('gates beyond the range of exp give finite values', async () => {
  const gate_up = gpu.tensor('gate_up', 'f32', [1, 4], { data: Float32Array.of(-3e4, 3e4, 1, 2) })
  const out = gpu.tensor('out', 'f32', [1, 2])
  await gpu.run(swiglu_forward, { rows: 1, intermediate_size: 2 }, { gate_up, out })
  expectClose((await gpu.read(out))[0], [0, 6e4])
})

test('a grid folded into two dimensions covers every element', async () => {
  const shape = { rows: 47, intermediate_size: 7 } // 329 elements: 6 workgroups
  const [gateUpValues, dOutValues] = [randomValues(658, 1), randomValues(329, 2)]
  const gate_up = gpu.tensor('gate_up', 'f32', [47, 14], { data: gateUpValues })
  const d_out = gpu.tensor('d_out', 'f32', [47, 7], { data: dOutValues })
  const out = gpu.tensor('out', 'f32', [47, 7])
  const d_gate_up = gpu.tensor('d_gate_up', 'f32', [47, 14])
  const workgroups = () => [4, 2] as const
  await gpu.run({ ...swiglu_forward, workgroups }, shape, { gate_up, out })
  await gpu.run({ ...swiglu_backward, workgroups }, shape, { gate_up, d_out, d_gate_up })
  const [actual, dActual] = await gpu.read(out, d_gate_up)
  expectClose(actual, swigluForwardRef(gateUpValues, shape))
  expectClose(dActual, swigluBackwardRef(gateUpValues, dOutValues, shape))
})
