import { expect, test } from 'vitest'
import { Gpu } from '../device/gpu.ts'
import { rmsNormForwardRef } from '../rms_norm/rms_norm.ref.ts'
import { expectClose, randomValues } from '../testing.ts'
import { decodeLinearRef, decodeSwigluRef } from './decode.ref.ts'
import { decode_linear_normed, decode_swiglu_normed } from './decode_normed.ts'

const gpu = await Gpu.open()

const EPS = 1e-5
// [rows, columns, sum]: one, odd sizes, a tile, one past it in both directions, several tiles.
const SIZES = [
  [1, 1, 4],
  [3, 5, 8],
  [64, 64, 64],
  [65, 67, 12],
  [130, 26, 192],
] as const
// Up to 192 products of size one, added in f32.
const close = { atol: 4e-5, rtol: 4e-5 }

const f32 = (label: string, data: Float32Array) => gpu.tensor(label, 'f32', [data.length], { data })
const u32 = (label: string, data: readonly number[]) =>
  gpu.tensor(label, 'u32', [data.length], { data: Uint32Array.from(data) })

/** `rows` states of k numbers, far from a norm of one, and what comes after them. */
function inputs(rows: number, n: number, k: number) {
  const a = randomValues(rows * k, rows + k).map((x) => 30 * x)
  const norm_weight = randomValues(k, 9)
  const b = randomValues(n * k, n)
  return { a, norm_weight, b }
}

function normed(a: Float32Array, norm_weight: Float32Array, k: number) {
  return rmsNormForwardRef(a, norm_weight, { rows: a.length / k, cols: k, eps: EPS }).y
}

test.for(SIZES)(
  '[%i, %i, %i]: a product of normed states, with a bias or without',
  async ([m, n, k]) => {
    const { a, norm_weight, b } = inputs(m, n, k)
    const bias = randomValues(n, 6)
    const out = gpu.tensor('out', 'f32', [m, n])
    const ended = u32('ended', new Array(m).fill(0))
    const tensors = { a: f32('a', a), norm_weight: f32('w', norm_weight), b: f32('b', b) }
    const kept = gpu.tensor('kept', 'f32', [m, k])
    for (const has_addend of [0, 1]) {
      const params = { m, n, k, has_addend, addend_stride: 0, gathers: 0, eps: EPS }
      const addend = f32('bias', bias)
      const all = { ...tensors, addend, ended, ids: ended, kept, out }
      await gpu.run(decode_linear_normed, params, all)
      const truth = decodeLinearRef(
        normed(a, norm_weight, k),
        b,
        { m, n, k },
        has_addend ? bias : undefined,
      )
      expectClose((await gpu.read(out))[0], truth, close)
    }
    expect((await gpu.read(kept))[0]).toEqual(new Float32Array(m * k))
  },
)

test('rows that ids name are gathered and kept; eight rows that have all ended are left alone', async () => {
  const [m, n, k, V] = [27, 70, 12, 11]
  const { a, norm_weight, b } = inputs(V, n, k)
  const ids = Array.from({ length: m }, (_, row) => (row * 7 + 3) % V)
  const ended = ids.map((_, row) => (row >= 8 && row < 16 ? 1 : 0))
  const filled = randomValues(m * n, 5)
  const out = gpu.tensor('out', 'f32', [m, n], { data: filled })
  const kept = gpu.tensor('kept', 'f32', [m, k])
  await gpu.run(
    decode_linear_normed,
    { m, n, k, has_addend: 0, addend_stride: 0, gathers: 1, eps: EPS },
    {
      a: f32('a', a),
      norm_weight: f32('w', norm_weight),
      b: f32('b', b),
      addend: f32('none', Float32Array.of(Number.NaN)),
      ended: u32('ended', ended),
      ids: u32('ids', ids),
      kept,
      out,
    },
  )
  const rows = Float32Array.from(ids.flatMap((id) => [...a.subarray(id * k, (id + 1) * k)]))
  const truth = decodeLinearRef(normed(rows, norm_weight, k), b, { m, n, k })
  const [products, states] = await gpu.read(out, kept)
  for (let row = 0; row < m; row++) {
    const of = <T extends Float32Array | Float64Array>(x: T, width: number) =>
      x.subarray(row * width, (row + 1) * width)
    if (ended[row]) {
      expect(of(products, n)).toEqual(of(filled, n))
      continue
    }
    expectClose(of(products, n), of(truth, n), close)
    expect(of(states, k)).toEqual(of(rows, k))
  }
})

test.for(SIZES)('[%i, %i, %i]: SwiGLU of normed states', async ([m, n, k]) => {
  const { a, norm_weight, b } = inputs(m, 2 * n, k)
  const out = gpu.tensor('out', 'f32', [m, n])
  const ended = u32('ended', new Array(m).fill(0))
  const tensors = { a: f32('a', a), norm_weight: f32('w', norm_weight), b: f32('b', b), ended, out }
  await gpu.run(decode_swiglu_normed, { m, n, k, eps: EPS }, tensors)
  // Two factors of up to 192 products each.
  const wide = { atol: 3e-4, rtol: 3e-4 }
  expectClose(
    (await gpu.read(out))[0],
    decodeSwigluRef(normed(a, norm_weight, k), b, { m, n, k }),
    wide,
  )
})
