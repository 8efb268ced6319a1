import { describe, expect, test } from 'vitest'

import { Gpu } from '../device/gpu.ts'
import { qkNormRopeForwardRef } from '../rope/rope.ref.ts'
import { qk_norm_rope_forward } from '../rope/rope.ts'
import { expectClose, randomValues } from '../testing.ts'
import {
  type AttentionSizes,
  attention_forward_ref,
  attentionBackwardRef,
  paddedSeqlens,
} from './attention.ref.ts'
import { attentionKernels, cacheTokens, kv_cache_write } from './attention.ts'

const gpu = await Gpu.open()

// Scores reach ±20 and sum up to 256 products: f32 leaves about 1e-6 of them, and exp passes that
// on.
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
  const qkvValues = randomValues(tokens * (H + 2 * K) * D, width * 100 + D).map((x) => x * 2)
  const mask = Uint32Array.from({ length: tokens }, (_, n) => {
    const [row, column] = [Math.floor(n / width), n % width]
    if (width < 4) return 1
    if (row % 3 === 0) return Number(column >= Math.floor(width / 3))
    if (row % 3 === 1) return Number(column < width - Math.floor(width / 4))
    return Number(column % 5 !== 2)
  })
  const inputs = {
    qkv: gpu.tensor('qkv', 'f32', [tokens, (H + 2 * K) * D], { data: qkvValues }),
    attention_mask: gpu.tensor('attention_mask', 'u32', [rows, width], { data: mask }),
    cu_seqlens: gpu.tensor('cu_seqlens', 'u32', [rows + 1], { data: paddedSeqlens(s) }),
    // Filled, so that a zero was written and not left.
    out: gpu.tensor('out', 'f32', [tokens, H * D], { data: randomValues(tokens * H * D, 7) }),
    lse: gpu.tensor('lse', 'f32', [rows, width, H], { data: randomValues(tokens * H, 8) }),
  }
  return { qkvValues, mask, inputs }
}

/** Weights, frequencies and positions for qk_norm_rope_forward. */
const ropeInputs = (tokens: number, D: number) => ({
  norm_weight: randomValues(2 * D, 21).map((x) => 1 + x / 2),
  inv_freq: randomValues(Math.max(1, Math.floor(D / 2)), 22).map((x) => 0.6 + x / 2),
  position_ids: Uint32Array.from({ length: tokens }, (_, t) => (t * 7) % 40),
})

// [rows, width, heads, key/value heads, head_dim]: one, odd sizes, a tile and one past it, groups,
// several channel blocks.
const tiledCases = [
  [1, 1, 1, 1, 1],
  [3, 7, 2, 1, 5],
  [2, 16, 4, 4, 16],
  [3, 33, 4, 2, 16],
  [1, 70, 3, 1, 20],
  [2, 17, 2, 2, 64],
  [1, 19, 2, 1, 130],
  [1, 9, 1, 1, 256],
]
// One invocation, an overhang, groups, vectors of a head from 1 to 16, heads of 20 in one piece and
// of 24 and 32 in halves.
const narrowCases = [
  [1, 1, 1, 1, 4],
  [3, 7, 2, 1, 8],
  [2, 16, 4, 4, 16],
  [3, 33, 4, 2, 16],
  [1, 70, 3, 1, 20],
  [2, 17, 2, 2, 64],
  [1, 300, 2, 1, 16],
  [1, 9, 1, 1, 24],
  [3, 33, 4, 2, 32],
]

/** The tiled kernels work at any width; a width beyond the narrow ones' asks for them. */
const tiledKernels = ({ head_dim }: AttentionSizes) => attentionKernels({ width: 1e6, head_dim })

describe.for([
  ['tiled', tiledCases, tiledKernels],
  ['narrow', narrowCases, attentionKernels],
] as const)('%s attention', ([, cases, kernelsOf]) => {
  test.for(cases)(
    'forward and backward match the reference at [%i, %i, %i, %i, %i]',
    async (size) => {
      const s = sizesOf(size)
      const { forward, backwardQuery, backwardKeyValue } = kernelsOf(s)
      const { qkvValues, mask, inputs } = tensorsOf(s)
      const { qkv, out, lse } = inputs
      await gpu.run(forward, { ...s }, inputs)
      const [actualOut, actualLse] = await gpu.read(out, lse)
      const expected = attention_forward_ref(qkvValues, mask, s)
      expectClose(actualOut, expected.out, close)
      expectClose(actualLse, expected.lse, close)

      const dOutValues = randomValues(actualOut.length, 3)
      const d_out = gpu.tensor('d_out', 'f32', out.shape, { data: dOutValues })
      const filled = randomValues(qkvValues.length, 9)
      const d_qkv = gpu.tensor('d_qkv', 'f32', qkv.shape, { data: filled })
      const tensors = { ...inputs, d_out, d_qkv }
      await gpu.run(backwardQuery, { ...s }, tensors)
      await gpu.run(backwardKeyValue, { ...s }, tensors)
      const [actual] = await gpu.read(d_qkv)
      const dExpected = attentionBackwardRef(qkvValues, mask, dOutValues, s)
      // Gradients add up to 70 columns of up to 3 heads, each with the forward's error: ten times
      // its room.
      expectClose(actual, dExpected, { atol: 3e-4, rtol: 3e-4 })

      const tokenSize = qkvValues.length / mask.length
      const outSize = actualOut.length / mask.length
      for (let n = 0; n < mask.length; n++)
        if (!mask[n]) {
          const part = (x: ArrayLike<number>, width: number) =>
            Array.from(x).slice(n * width, (n + 1) * width)
          expect(part(actualOut, outSize).every((x) => x === 0)).toBe(true)
          expect(part(actual, tokenSize).every((x) => x === 0)).toBe(true)
          expect(part(actualLse, s.num_attention_heads).every((x) => x === 0)).toBe(true)
        }
    },
  )

  test.for(cases)(
    'a new token gets the numbers of forward, bit for bit, at [%i, %i, %i, %i, %i]',
    async (size) => {
      const s = sizesOf(size)
      const { rows, width, num_attention_heads: H, num_key_value_heads: K, head_dim: D } = s
      const { forward, decode, step } = kernelsOf(s)
      const { qkvValues, mask, inputs } = tensorsOf(s)
      const { qkv, attention_mask, out } = inputs
      const has_qk_norm = K % 2
      const heads = { num_attention_heads: H, num_key_value_heads: K, head_dim: D }
      const rope = { ...heads, has_qk_norm, eps: 1e-6 }
      const { norm_weight, inv_freq, position_ids } = ropeInputs(rows * width, D)
      const turn = {
        norm_weight: gpu.tensor('norm_weight', 'f32', [2, D], { data: norm_weight }),
        inv_freq: gpu.tensor('inv_freq', 'f32', [inv_freq.length], { data: inv_freq }),
      }
      // An odd head cannot be turned; its kernels take q and k as they are.
      const isTurned = D % 2 === 0
      const turned = gpu.tensor('turned', 'f32', qkv.shape, { data: qkvValues })
      const positions = gpu.tensor('positions', 'u32', [rows * width], { data: position_ids })
      if (isTurned) {
        const tensors = { qkv, ...turn, position_ids: positions, out: turned }
        await gpu.run(qk_norm_rope_forward, { ...rope, tokens: rows * width }, tensors)
      }
      await gpu.run(forward, { ...s }, { ...inputs, qkv: turned })
      const [whole, turnedValues] = (await gpu.read(out, turned)) as [Float32Array, Float32Array]

      // The first half of the columns enters the cache at once, as after a prompt; the rest one by
      // one.
      const half = Math.floor(width / 2)
      const tokenSize = (H + 2 * K) * D
      // A rollout's last token is never attended, so the fused kernel needs no place for it.
      const response_columns = width - half - (step ? 1 : 0)
      const cacheSize = { rows, n: 1, prompt_length: half, response_columns }
      const cache = gpu.tensor('cache', 'f32', [Math.max(1, cacheTokens(cacheSize)), 2 * K * D])
      const columnsOf = (values: Float32Array, first: number, count: number) =>
        Float32Array.from({ length: rows * count * tokenSize }, (_, i) => {
          const [b, rest] = [Math.floor(i / count / tokenSize), i % (count * tokenSize)]
          return values[(b * width + first) * tokenSize + rest]
        })
      if (half > 0) {
        const data = columnsOf(turnedValues, 0, half)
        const prompt = gpu.tensor('prompt', 'f32', [rows * half, tokenSize], { data })
        const params = { rows, ...heads, columns: half, first_token: 0, stride: half }
        await gpu.run(kv_cache_write, params, { qkv: prompt, cache })
      }
      const token = gpu.tensor('token', 'f32', [rows, tokenSize])
      const tokenOut = gpu.tensor('token_out', 'f32', [rows, H * D])
      const tokenPositions = gpu.tensor('token_positions', 'u32', [rows])
      const program = await gpu.record('decode', ['column'], (r) => {
        const params = { ...s, ...cacheSize, column: (live: { column: number }) => live.column }
        const tensors = { qkv: token, cache, attention_mask, out: tokenOut }
        if (step) {
          const { eps } = rope
          const all = { ...tensors, ...turn, position_ids: tokenPositions }
          r.run(step, { ...params, has_qk_norm, eps }, all)
        } else {
          const first_token = (live: { column: number }) => rows * half + live.column - half
          const write = { rows, ...heads, columns: 1, first_token }
          r.run(kv_cache_write, { ...write, stride: response_columns }, { qkv: token, cache })
          r.run(decode, params, tensors)
        }
      })
      for (let column = half; column < width; column++) {
        gpu.write(token, columnsOf(step ? qkvValues : turnedValues, column, 1))
        const at = (b: number) => position_ids[b * width + column]
        gpu.write(
          tokenPositions,
          Uint32Array.from({ length: rows }, (_, b) => at(b)),
        )
        gpu.replay(program, { column })
        const [values] = await gpu.read(tokenOut)
        for (let b = 0; b < rows; b++) {
          const at = (b * width + column) * H * D
          expect(values.subarray(b * H * D, (b + 1) * H * D)).toEqual(
            whole.subarray(at, at + H * D),
          )
        }
      }
      if (!step) return
      const shape = { ...rope, tokens: rows * width }
      const values = { qkv: qkvValues, norm_weight, position_ids, inv_freq }
      const truth = attention_forward_ref(qkNormRopeForwardRef(values, shape), mask, s)
      expectClose(whole, truth.out, { atol: 1e-4, rtol: 1e-4 })
    },
  )

  test('rows that share a prompt attend it as if each had a copy', async () => {
    const [rows, n, P, R, H, K, D] = [6, 3, 5, 4, 4, 2, 8]
    const heads = { num_attention_heads: H, num_key_value_heads: K, head_dim: D }
    const { decode, step } = kernelsOf(sizesOf([rows, P + R, H, K, D]))
    const tokenSize = 2 * K * D
    const shared = randomValues(((rows / n) * P + rows * R) * tokenSize, 5)
    const copied = new Float32Array(rows * (P + R) * tokenSize)
    for (let b = 0; b < rows; b++) {
      const prompt = Math.floor(b / n) * P * tokenSize
      copied.set(shared.subarray(prompt, prompt + P * tokenSize), b * P * tokenSize)
    }
    copied.set(shared.subarray((rows / n) * P * tokenSize), rows * P * tokenSize)
    // The last row has ended before this column.
    const mask = Uint32Array.from({ length: rows * (P + R) }, (_, i) =>
      Number(i % (P + R) > 1 && i !== rows * (P + R) - 1),
    )
    const attention_mask = gpu.tensor('attention_mask', 'u32', [rows, P + R], { data: mask })
    const qkvValues = randomValues(rows * (H + 2 * K) * D, 6)
    const qkv = gpu.tensor('qkv', 'f32', [rows, (H + 2 * K) * D], { data: qkvValues })
    const results: Float32Array[] = []
    for (const [ofN, data] of [
      [n, shared],
      [1, copied],
    ] as const) {
      const cache = gpu.tensor('cache', 'f32', [data.length / tokenSize, tokenSize], { data })
      const filled = randomValues(rows * H * D, 7)
      const out = gpu.tensor('out', 'f32', [rows, H * D], { data: filled })
      const size = { rows, n: ofN, prompt_length: P, response_columns: R, width: P + R }
      const params = { ...size, column: P + R - 1, ...heads, scale: 0.5 }
      const tensors = { qkv, cache, attention_mask, out }
      if (step) {
        const { norm_weight, inv_freq, position_ids } = ropeInputs(rows, D)
        const turn = {
          norm_weight: gpu.tensor('norm_weight', 'f32', [2, D], { data: norm_weight }),
          inv_freq: gpu.tensor('inv_freq', 'f32', [D / 2], { data: inv_freq }),
          position_ids: gpu.tensor('position_ids', 'u32', [rows], { data: position_ids }),
        }
        await gpu.run(step, { ...params, has_qk_norm: 1, eps: 1e-6 }, { ...tensors, ...turn })
      } else await gpu.run(decode, params, tensors)
      results.push((await gpu.read(out))[0] as Float32Array)
    }
    expect(results[0]).toEqual(results[1])
    expect(results[0].subarray(-H * D).every((x) => x === 0)).toBe(true)
    expect(results[0].subarray(0, H * D)).not.toEqual(results[0].subarray(H * D, 2 * H * D))
  })

  test('what masked columns hold changes no output and no gradient', async () => {
    const s = sizesOf([3, 33, 4, 2, 16])
    const { forward, backwardQuery, backwardKeyValue } = kernelsOf(s)
    const results = []
    for (const garbage of [0, 50]) {
      const { qkvValues, mask, inputs } = tensorsOf(s)
      const { qkv, out } = inputs
      const tokenSize = qkvValues.length / mask.length
      gpu.write(
        qkv,
        qkvValues.map((x, i) => (mask[Math.floor(i / tokenSize)] ? x : garbage)),
      )
      const d_out = gpu.tensor('d_out', 'f32', out.shape, { data: randomValues(3 * 33 * 64, 3) })
      const d_qkv = gpu.tensor('d_qkv', 'f32', qkv.shape)
      await gpu.run(forward, { ...s }, inputs)
      const tensors = { ...inputs, d_out, d_qkv }
      await gpu.run(backwardQuery, { ...s }, tensors)
      await gpu.run(backwardKeyValue, { ...s }, tensors)
      results.push(await gpu.read(out, d_qkv))
    }
    expect(results[1]).toEqual(results[0])
  })
})
