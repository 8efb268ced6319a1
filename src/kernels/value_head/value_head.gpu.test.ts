import { expect, test } from 'vitest'
import { Gpu } from '../gpu.ts'
import { expectClose, randomValues } from '../testing.ts'
import { type ValueHeadSizes, valueHeadBackwardRef, valueHeadForwardRef } from './value_head.ref.ts'
import {
  value_head_backward_hidden,
  value_head_backward_weight,
  value_head_forward,
} from './value_head.ts'

const gpu = await Gpu.open()
const BIAS = 0.375

/** [rows, width, first_column, response_length, hidden_size] around one invocation or workgroup per token. */
const SIZES = [
  [1, 1, 0, 1, 1],
  [3, 9, 3, 5, 7],
  [5, 30, 11, 18, 64],
  [2, 7, 2, 3, 256],
  [2, 7, 2, 3, 257],
  [1, 4, 1, 2, 2048],
]
const sizesOf = ([rows, width, first_column, response_length, hidden_size]: number[]) => ({
  rows,
  width,
  first_column,
  response_length,
  hidden_size,
})

/** Random inputs; every fifth token is masked, has no gradient, and a state of NaN. */
function inputs(s: ValueHeadSizes, seed: number) {
  const { rows, width, first_column, response_length, hidden_size } = s
  const tokens = rows * response_length
  const isMasked = (i: number) => i % 5 === 3
  const hidden = randomValues(rows * width * hidden_size, seed)
  for (let i = 0; i < tokens; i++) {
    const row = Math.floor(i / response_length) * width + first_column + (i % response_length)
    if (isMasked(i)) hidden.fill(Number.NaN, row * hidden_size, (row + 1) * hidden_size)
  }
  return {
    hidden,
    weight: randomValues(hidden_size, seed + 1),
    response_mask: Float32Array.from({ length: tokens }, (_, i) => (isMasked(i) ? 0 : 1)),
    d_values: randomValues(tokens, seed + 2).map((x, i) => (isMasked(i) ? 0 : x)),
  }
}

function upload(s: ValueHeadSizes, x: ReturnType<typeof inputs>) {
  const batch = [s.rows, s.response_length]
  return {
    hidden: gpu.tensor('hidden', 'f32', [s.rows * s.width, s.hidden_size], { data: x.hidden }),
    weight: gpu.tensor('weight', 'f32', [1, s.hidden_size], { data: x.weight }),
    bias: gpu.tensor('bias', 'f32', [1], { data: Float32Array.of(BIAS) }),
    response_mask: gpu.tensor('response_mask', 'f32', batch, { data: x.response_mask }),
    d_values: gpu.tensor('d_values', 'f32', batch, { data: x.d_values }),
    values: gpu.tensor('values', 'f32', batch, { data: x.d_values.map(() => 9) }),
  }
}

test.for(SIZES)('values equal the reference at [%i, %i, %i, %i, %i]', async (size) => {
  const s = sizesOf(size)
  const x = inputs(s, s.hidden_size)
  const tensors = upload(s, x)
  await gpu.run(value_head_forward, s, tensors)
  const [values] = await gpu.read(tensors.values)
  const expected = valueHeadForwardRef(s, x.hidden, x.weight, BIAS, x.response_mask)
  // Dot products of up to 2048 values below 1.
  expectClose(values, expected, { atol: 1e-5 })
})

test.for(SIZES)('gradients equal the reference at [%i, %i, %i, %i, %i]', async (size) => {
  const s = sizesOf(size)
  const { rows, width, hidden_size } = s
  const x = inputs(s, s.hidden_size + 10)
  const nines = (label: string, shape: number[], count: number) =>
    gpu.tensor(label, 'f32', shape, { data: new Float32Array(count).fill(9) })
  const tensors = {
    ...upload(s, x),
    d_hidden: nines('d_hidden', [rows * width, hidden_size], rows * width * hidden_size),
    d_weight: nines('d_weight', [1, hidden_size], hidden_size),
    d_bias: nines('d_bias', [1], 1),
  }
  await gpu.run(value_head_backward_hidden, s, tensors)
  await gpu.run(value_head_backward_weight, s, tensors)
  const [d_hidden, d_weight, d_bias] = await gpu.read(
    tensors.d_hidden,
    tensors.d_weight,
    tensors.d_bias,
  )
  const expected = valueHeadBackwardRef(s, x.hidden, x.weight, x.d_values)
  const isResponse = (i: number) => {
    const column = Math.floor(i / hidden_size) % width
    return column >= s.first_column && column < s.first_column + s.response_length
  }
  // Rows of response tokens are overwritten, masked ones with 0; the others keep what they held.
  const expected_hidden = expected.d_hidden.map((d, i) => (isResponse(i) ? d : 9))
  expectClose(d_hidden, expected_hidden)
  expect(d_hidden.filter((d) => d === 9).length).toBe(expected_hidden.filter((d) => d === 9).length)
  // Sums of up to 90 products, added to 9.
  expectClose(
    d_weight,
    expected.d_weight.map((d) => 9 + d),
    { atol: 1e-5 },
  )
  expectClose(d_bias, [9 + expected.d_bias], { atol: 1e-5 })
})

test.for([7, 300])('a token of %i columns has the same bits in any batch', async (hidden_size) => {
  const s = sizesOf([4, 6, 1, 5, hidden_size])
  const x = inputs(s, 5)
  const whole = upload(s, x)
  await gpu.run(value_head_forward, s, whole)
  const last = upload(
    { ...s, rows: 1 },
    {
      ...x,
      hidden: x.hidden.slice(3 * s.width * hidden_size),
      response_mask: x.response_mask.slice(15),
      d_values: x.d_values.slice(15),
    },
  )
  await gpu.run(value_head_forward, { ...s, rows: 1 }, last)
  const [all, alone] = await gpu.read(whole.values, last.values)
  expect(alone).toEqual(all.slice(15))
})

test.for([3, 258])(
  'a folded grid with an overhang covers every token once: %i columns',
  async (hidden_size) => {
    const s = sizesOf(hidden_size === 3 ? [33, 12, 2, 10, 3] : [2, 5, 1, 3, 258])
    const x = inputs(s, 8)
    const tensors = {
      ...upload(s, x),
      d_hidden: gpu.tensor('d_hidden', 'f32', [s.rows * s.width, hidden_size]),
      d_weight: gpu.tensor('d_weight', 'f32', [1, hidden_size]),
      d_bias: gpu.tensor('d_bias', 'f32', [1]),
    }
    const half = (kernel: { workgroups: (p: never) => readonly [number, number?, number?] }) => {
      const [groups] = kernel.workgroups(s as never)
      return { workgroups: () => [Math.floor(groups / 2) + 1, 2] as const }
    }
    await gpu.run({ ...value_head_forward, ...half(value_head_forward) }, s, tensors)
    const hidden_kernel = value_head_backward_hidden
    await gpu.run({ ...hidden_kernel, ...half(hidden_kernel) }, s, tensors)
    const weight_kernel = value_head_backward_weight
    await gpu.run({ ...weight_kernel, ...half(weight_kernel) }, s, tensors)
    const read = await gpu.read(tensors.values, tensors.d_hidden, tensors.d_weight, tensors.d_bias)
    const expected = valueHeadBackwardRef(s, x.hidden, x.weight, x.d_values)
    expectClose(read[0], valueHeadForwardRef(s, x.hidden, x.weight, BIAS, x.response_mask), {
      atol: 1e-5,
    })
    expectClose(read[1], expected.d_hidden)
    // Sums of up to 330 products.
    expectClose(read[2], expected.d_weight, { atol: 2e-5 })
    expectClose(read[3], [expected.d_bias], { atol: 2e-5 })
  },
)
