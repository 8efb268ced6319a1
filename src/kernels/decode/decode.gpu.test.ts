import { describe, expect, test } from 'vitest'
import type { Tensor } from '../device/base/tensor.ts'
import { Gpu } from '../device/gpu.ts'
import { matmul_nt, matmul_nt_add } from '../matmul/matmul.ts'
import { swiglu_forward } from '../swiglu/swiglu.ts'
import { expectClose, randomValues } from '../testing.ts'
import { decodeLinearRef, decodeSwigluRef } from './decode.ref.ts'
import { decode_linear, decode_linear_short, decode_swiglu } from './decode.ts'

const gpu = await Gpu.open()

// [rows, columns, sum]: one, odd sizes, a tile, one past it in both directions, several tiles.
const SIZES = [
  [1, 1, 4],
  [3, 5, 8],
  [9, 33, 20],
  [64, 64, 64],
  [65, 67, 12],
  [130, 26, 192],
]
// Up to 192 products of size one, added in f32.
const close = { atol: 2e-5, rtol: 2e-5 }

function inputs([m, n, k]: readonly number[], bRows: number, endedRows: readonly number[] = []) {
  const a_values = randomValues(m * k, m + k)
  const b_values = randomValues(bRows * k, n)
  const ended = new Uint32Array(m)
  for (const row of endedRows) {
    ended[row] = 1
    a_values.fill(Number.NaN, row * k, (row + 1) * k)
  }
  return {
    a_values,
    b_values,
    a: gpu.tensor('a', 'f32', [m, k], { data: a_values }),
    b: gpu.tensor('b', 'f32', [bRows, k], { data: b_values }),
    ended: gpu.tensor('ended', 'u32', [m], { data: ended }),
    // Filled, so that what was left alone shows.
    out: gpu.tensor('out', 'f32', [m, n], { data: randomValues(m * n, 5) }),
  }
}

const read = async (tensor: Tensor<'f32'>): Promise<Float32Array> => (await gpu.read(tensor))[0]

describe.for(SIZES)('[%i, %i, %i]', ([m, n, k]) => {
  test('decode_linear matches the reference and matmul, bit for bit', async () => {
    const { a_values, b_values, a, b, ended, out } = inputs([m, n, k], n)
    const twin = gpu.tensor('twin', 'f32', [m, n])
    await gpu.run(
      decode_linear,
      { m, n, k, has_addend: 0, addend_stride: 0 },
      { a, b, addend: a, ended, out },
    )
    await gpu.run(matmul_nt, { m, n, k, accumulate: 0 }, { a, b, out: twin })
    const plain = await read(out)
    expectClose(plain, decodeLinearRef(a_values, b_values, { m, n, k }), close)
    expect(plain).toEqual(await read(twin))
    const short = gpu.tensor('short', 'f32', [m, n])
    const none = { has_addend: 0, addend_stride: 0 }
    await gpu.run(decode_linear_short, { m, n, k, ...none }, { a, b, addend: a, ended, out: short })
    expect(plain).toEqual(await read(short))

    for (const [count, addend_stride] of [
      [m * n, n],
      [n, 0],
    ]) {
      const values = randomValues(count, 6)
      const addend = gpu.tensor('addend', 'f32', [count], { data: values })
      const size = { m, n, k, addend_stride }
      await gpu.run(decode_linear, { ...size, has_addend: 1 }, { a, b, addend, ended, out })
      await gpu.run(matmul_nt_add, size, { a, b, addend, out: twin })
      const added = await read(out)
      expectClose(added, decodeLinearRef(a_values, b_values, { m, n, k }, values), close)
      expect(added).toEqual(await read(twin))
    }
  })

  test('decode_swiglu matches the reference and the two kernels it stands for, bit for bit', async () => {
    const { a_values, b_values, a, b, ended, out } = inputs([m, n, k], 2 * n)
    await gpu.run(decode_swiglu, { m, n, k }, { a, b, ended, out })
    const gate_up = gpu.tensor('gate_up', 'f32', [m, 2 * n])
    const twin = gpu.tensor('twin', 'f32', [m, n])
    await gpu.run(matmul_nt, { m, n: 2 * n, k, accumulate: 0 }, { a, b, out: gate_up })
    await gpu.run(swiglu_forward, { rows: m, intermediate_size: n }, { gate_up, out: twin })
    const actual = await read(out)
    // Two factors of up to 192 products each.
    const wide = { atol: 2e-4, rtol: 2e-4 }
    expectClose(actual, decodeSwigluRef(a_values, b_values, { m, n, k }), wide)
    expect(actual).toEqual(await read(twin))
  })
})

test('decode_linear_short leaves out four rows that have all ended', async () => {
  const [m, n, k] = [14, 40, 8]
  // All of 4 … 7, some of 8 … 11, and the last two.
  const endedRows = [4, 5, 6, 7, 8, 10, 12, 13]
  const { a_values, b_values, out, ...readOnly } = inputs([m, n, k], n, endedRows)
  const filled = randomValues(m * n, 5)
  const params = { m, n, k, has_addend: 0, addend_stride: 0 }
  await gpu.run(decode_linear_short, params, { ...readOnly, addend: readOnly.a, out })
  const [actual, truth] = [await read(out), decodeLinearRef(a_values, b_values, { m, n, k })]
  for (let row = 0; row < m; row++) {
    const part = actual.subarray(row * n, (row + 1) * n)
    const isKept = (row >= 4 && row < 8) || row >= 12
    if (isKept) expect(part).toEqual(filled.subarray(row * n, (row + 1) * n))
    else if (!endedRows.includes(row))
      expectClose(part, truth.subarray(row * n, (row + 1) * n), close)
  }
})

test('eight rows that have all ended keep what they held; an ended row beside a live one changes nothing', async () => {
  const [m, n, k] = [27, 40, 8]
  // All of 8 … 15, some of 16 … 23, and the last rows, which are fewer than eight.
  const endedRows = [8, 9, 10, 11, 12, 13, 14, 15, 17, 20, 24, 25, 26]
  const kept = (row: number) => (row >= 8 && row < 16) || row >= 24
  const filled = randomValues(m * n, 5)
  const linear = inputs([m, n, k], n, endedRows)
  const swiglu = inputs([m, n, k], 2 * n, endedRows)
  const params = { m, n, k, has_addend: 0, addend_stride: 0 }
  await gpu.run(decode_linear, params, { ...linear, addend: linear.a })
  await gpu.run(decode_swiglu, { m, n, k }, swiglu)
  const cases = [
    [await read(linear.out), decodeLinearRef(linear.a_values, linear.b_values, { m, n, k })],
    [await read(swiglu.out), decodeSwigluRef(swiglu.a_values, swiglu.b_values, { m, n, k })],
  ] as const
  for (const [actual, truth] of cases)
    for (let row = 0; row < m; row++) {
      const [first, end] = [row * n, (row + 1) * n]
      if (kept(row)) expect(actual.subarray(first, end)).toEqual(filled.subarray(first, end))
      else if (!endedRows.includes(row))
        expectClose(actual.subarray(first, end), truth.subarray(first, end), close)
    }
})

test('a folded grid with an overhang computes the same', async () => {
  const [m, n, k] = [130, 70, 8]
  const { a, b, ended, out } = inputs([m, n, k], 2 * n)
  const params = { m, n, k, has_addend: 0, addend_stride: 0 }
  const results: Float32Array[] = []
  for (const workgroups of [undefined, () => [8, 2] as const]) {
    const fold = workgroups ? { workgroups } : {}
    await gpu.run({ ...decode_linear, ...fold }, params, { a, b, addend: a, ended, out })
    results.push(await read(out))
    await gpu.run({ ...decode_swiglu, ...fold }, { m, n, k }, { a, b, ended, out })
    results.push(await read(out))
  }
  expect(results[2]).toEqual(results[0])
  expect(results[3]).toEqual(results[1])
})
