import { describe, expect, test } from 'vitest'

import { Gpu } from '../gpu.ts'
import { expectClose, randomValues } from '../testing.ts'
import {
  type AttentionSizes,
  attention_backward_ref,
  attention_forward_ref,
} from './attention.ref.ts'
import { attentionKernels, kv_cache_write } from './attention.ts'

const gpu = await Gpu.open()

// Scores reach ±20 and sum up to 256 products: f32 leaves about 1e-6 of them, and exp passes that on.
const close = { atol: 3e-5, rtol: 3e-5 }

function sizesOf([rows, width, H, K, D]: readonly number[]): AttentionSizes {
  return {
    rows,
    width,
    num_attention_heads: H,
    num_key_value_heads: K,
    head_dim: D,
    scale: 4 / Math.sqrt(D),
  }
}

/** Random tokens and a mask padded on the left, on the right and in the middle, row by row. */
function tensorsOf(s: AttentionSizes) {
  const { rows, width, num_attention_heads: H, num_key_value_heads: K, head_dim: D } = s
  const tokens = rows * width
  const qkv_values = randomValues(tokens * (H + 2 * K) * D, width * 100 + D).map((x) => x * 2)
  const mask = Uint32Array.from({ length: tokens }, (_, n) => {
    const [row, column] = [Math.floor(n / width), n % width]
    if (width < 4) return 1
    if (row % 3 === 0) return Number(column >= Math.floor(width / 3))
    if (row % 3 === 1) return Number(column < width - Math.floor(width / 4))
    return Number(column % 5 !== 2)
  })
  return {
    qkv_values,
    mask,
    qkv: gpu.tensor('qkv', 'f32', [tokens, (H + 2 * K) * D], { data: qkv_values }),
    attention_mask: gpu.tensor('attention_mask', 'u32', [rows, width], { data: mask }),
    // Filled, so that a zero was written and not left.
    out: gpu.tensor('out', 'f32', [tokens, H * D], { data: randomValues(tokens * H * D, 7) }),
    lse: gpu.tensor('lse', 'f32', [rows, width, H], { data: randomValues(tokens * H, 8) }),
  }
}

// [rows, width, heads, key/value heads, head_dim]: one, odd sizes, a tile and one past it, groups, several channel blocks.
const tiled_cases = [
  [1, 1, 1, 1, 1],
  [3, 7, 2, 1, 5],
  [2, 16, 4, 4, 16],
  [3, 33, 4, 2, 16],
  [1, 70, 3, 1, 20],
  [2, 17, 2, 2, 64],
  [1, 19, 2, 1, 130],
  [1, 9, 1, 1, 256],
]
// One invocation, an overhang, groups, vectors of a head from 1 to 16.
const narrow_cases = [
  [1, 1, 1, 1, 4],
  [3, 7, 2, 1, 8],
  [2, 16, 4, 4, 16],
  [3, 33, 4, 2, 16],
  [1, 70, 3, 1, 20],
  [2, 17, 2, 2, 64],
]

/** The tiled kernels work at any width; a width beyond the narrow ones' asks for them. */
const tiledKernels = ({ head_dim }: AttentionSizes) => attentionKernels({ width: 1e6, head_dim })

describe.for([
  ['tiled', tiled_cases, tiledKernels],
  ['narrow', narrow_cases, attentionKernels],
] as const)('%s attention', ([, cases, kernelsOf]) => {
  test.for(cases)(
    'forward and backward match the reference at [%i, %i, %i, %i, %i]',
    async (size) => {
      const s = sizesOf(size)
      const { forward, backward_query, backward_key_value } = kernelsOf(s)
      const { qkv_values, mask, qkv, attention_mask, out, lse } = tensorsOf(s)
      await gpu.run(forward, { ...s }, { qkv, attention_mask, out, lse })
      const [actual_out, actual_lse] = await gpu.read(out, lse)
      const expected = attention_forward_ref(qkv_values, mask, s)
      expectClose(actual_out, expected.out, close)
      expectClose(actual_lse, expected.lse, close)

      const d_out_values = randomValues(actual_out.length, 3)
      const d_out = gpu.tensor('d_out', 'f32', out.shape, { data: d_out_values })
      const filled = randomValues(qkv_values.length, 9)
      const d_qkv = gpu.tensor('d_qkv', 'f32', qkv.shape, { data: filled })
      const tensors = { qkv, attention_mask, out, lse, d_out, d_qkv }
      await gpu.run(backward_query, { ...s }, tensors)
      await gpu.run(backward_key_value, { ...s }, tensors)
      const [actual] = await gpu.read(d_qkv)
      const d_expected = attention_backward_ref(qkv_values, mask, d_out_values, s)
      // Gradients add up to 70 columns of up to 3 heads, each with the forward's error: ten times its room.
      expectClose(actual, d_expected, { atol: 3e-4, rtol: 3e-4 })

      const token_size = qkv_values.length / mask.length
      const out_size = actual_out.length / mask.length
      for (let n = 0; n < mask.length; n++)
        if (!mask[n]) {
          const part = (x: ArrayLike<number>, width: number) =>
            Array.from(x).slice(n * width, (n + 1) * width)
          expect(part(actual_out, out_size).every((x) => x === 0)).toBe(true)
          expect(part(actual, token_size).every((x) => x === 0)).toBe(true)
          expect(part(actual_lse, s.num_attention_heads).every((x) => x === 0)).toBe(true)
        }
    },
  )

  test.for(cases)(
    'decode gives the numbers of forward, bit for bit, at [%i, %i, %i, %i, %i]',
    async (size) => {
      const s = sizesOf(size)
      const { rows, width, num_attention_heads: H, num_key_value_heads: K, head_dim: D } = s
      const { forward, decode: decode_kernel } = kernelsOf(s)
      const { qkv_values, qkv, attention_mask, out, lse } = tensorsOf(s)
      await gpu.run(forward, { ...s }, { qkv, attention_mask, out, lse })

      // The first half of the columns enters the cache at once, as after a prompt; the rest one by one.
      const size_of_token = (H + 2 * K) * D
      const columnsOf = (first: number, count: number) => {
        const data = new Float32Array(rows * count * size_of_token)
        for (let b = 0; b < rows; b++) {
          const from = (b * width + first) * size_of_token
          data.set(
            qkv_values.subarray(from, from + count * size_of_token),
            b * count * size_of_token,
          )
        }
        return data
      }
      const cache = gpu.tensor('cache', 'f32', [rows, width, 2 * K * D])
      const half = Math.floor(width / 2)
      const { scale: _, ...shape } = s
      if (half > 0) {
        const data = columnsOf(0, half)
        const prompt = gpu.tensor('prompt', 'f32', [rows * half, size_of_token], { data })
        const params = { ...shape, columns: half, first_column: 0 }
        await gpu.run(kv_cache_write, params, { qkv: prompt, cache })
      }
      const token = gpu.tensor('token', 'f32', [rows, size_of_token])
      const token_out = gpu.tensor('token_out', 'f32', [rows, H * D])
      const decode = await gpu.record('decode', ['column'], (r) => {
        const first_column = (live: { column: number }) => live.column
        r.run(kv_cache_write, { ...shape, columns: 1, first_column }, { qkv: token, cache })
        const tensors = { qkv: token, cache, attention_mask, out: token_out }
        r.run(decode_kernel, { ...s, column: (live) => live.column }, tensors)
      })
      const decoded: Float32Array[] = []
      for (let column = half; column < width; column++) {
        gpu.write(token, columnsOf(column, 1))
        gpu.replay(decode, { column })
        decoded.push((await gpu.read(token_out))[0] as Float32Array)
      }
      const [whole] = await gpu.read(out)
      decoded.forEach((values, n) => {
        for (let b = 0; b < rows; b++) {
          const at = (b * width + half + n) * H * D
          expect(values.subarray(b * H * D, (b + 1) * H * D)).toEqual(
            whole.subarray(at, at + H * D),
          )
        }
      })
    },
  )

  test('what stands in masked columns changes no output and no gradient', async () => {
    const s = sizesOf([3, 33, 4, 2, 16])
    const { forward, backward_query, backward_key_value } = kernelsOf(s)
    const results = []
    for (const garbage of [0, 50]) {
      const { qkv_values, mask, qkv, attention_mask, out, lse } = tensorsOf(s)
      const token_size = qkv_values.length / mask.length
      gpu.write(
        qkv,
        qkv_values.map((x, i) => (mask[Math.floor(i / token_size)] ? x : garbage)),
      )
      const d_out = gpu.tensor('d_out', 'f32', out.shape, { data: randomValues(3 * 33 * 64, 3) })
      const d_qkv = gpu.tensor('d_qkv', 'f32', qkv.shape)
      await gpu.run(forward, { ...s }, { qkv, attention_mask, out, lse })
      const tensors = { qkv, attention_mask, out, lse, d_out, d_qkv }
      await gpu.run(backward_query, { ...s }, tensors)
      await gpu.run(backward_key_value, { ...s }, tensors)
      results.push(await gpu.read(out, d_qkv))
    }
    expect(results[1]).toEqual(results[0])
  })

  test('a folded grid with an overhang computes the same', async () => {
    const s = sizesOf([2, 33, 2, 1, 8])
    const { forward, backward_query, backward_key_value } = kernelsOf(s)
    const results = []
    for (const is_folded of [false, true]) {
      const { qkv, attention_mask, out, lse } = tensorsOf(s)
      const d_out = gpu.tensor('d_out', 'f32', out.shape, { data: randomValues(66 * 16, 3) })
      const d_qkv = gpu.tensor('d_qkv', 'f32', qkv.shape)
      type Sizes = AttentionSizes
      const folded = <K extends { workgroups: (s: Sizes) => readonly [number, number?, number?] }>(
        kernel: K,
      ) => {
        const [groups] = kernel.workgroups(s)
        const workgroups = () => [Math.floor(groups / 2) + 1, 2] as const
        return is_folded ? { ...kernel, workgroups } : kernel
      }
      await gpu.run(folded(forward), { ...s }, { qkv, attention_mask, out, lse })
      const tensors = { qkv, attention_mask, out, lse, d_out, d_qkv }
      await gpu.run(folded(backward_query), { ...s }, tensors)
      await gpu.run(folded(backward_key_value), { ...s }, tensors)
      results.push(await gpu.read(out, lse, d_qkv))
    }
    expect(results[1]).toEqual(results[0])
  })
})
