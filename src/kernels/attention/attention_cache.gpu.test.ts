// Attention from a cache of halves, held to the float64 reference on the very numbers that the
// cache holds.
import { describe, expect, test } from 'vitest'
import { Gpu } from '../device/gpu.ts'
import { expectClose, randomValues } from '../testing.ts'
import { attention_forward_ref } from './attention.ref.ts'
import { type CacheSize, cacheTokens } from './attention.ts'
import { halvesRef } from './attention_cache.ref.ts'
import { type CacheKernels, cacheKernels, cacheTensor } from './attention_cache.ts'
import { checkHalfCache, MAX_HALF_CACHE_DIFFERENCE } from './half_cache_check.ts'

const gpu = await Gpu.open()
const narrow = { width: 12, head_dim: 8 }
const tiled = { width: 1e6, head_dim: 8 }

test('halves are the nearest, or next to it; what is too large becomes the largest', async () => {
  // An odd head: pairs reach from one head into the next, and from keys to values.
  const [rows, columns, H, K, D] = [3, 2, 2, 3, 5]
  const heads = { num_attention_heads: H, num_key_value_heads: K, head_dim: D }
  const data = randomValues(rows * columns * (H + 2 * K) * D, 4).map(
    (x, i) => x * 10 ** ((i % 9) - 5),
  )
  const own = (token: number) => token * (H + 2 * K) * D + H * D
  data.set([1e6, -1e30, 65504, 0], own(1))
  const qkv = gpu.tensor('qkv', 'f32', [rows * columns, (H + 2 * K) * D], { data })
  const cache = cacheTensor(gpu, 'cache', 9, heads, 'float16')
  gpu.write(cache, new Uint32Array(9 * K * D).fill(0x3c003c00)) // ones, where nothing is written
  const size = { rows, columns, first_token: 1, stride: 3, ...heads }
  await gpu.run(cacheKernels(tiled, 'float16').write, size, { qkv, cache })
  const held = halvesRef((await gpu.read(cache))[0] as unknown as Uint32Array)
  const tokenSize = 2 * K * D
  for (let token = 0; token < 9; token++) {
    const [row, column] = [Math.floor((token - 1) / 3), (token - 1) % 3]
    const isWritten = token > 0 && column < columns
    for (let e = 0; e < tokenSize; e++) {
      const actual = held[token * tokenSize + e]
      const x = isWritten ? data[own(row * columns + column) + e] : 1
      const expected = Math.max(-65504, Math.min(65504, x))
      // One step of a half: 2^-10 of its value, 2^-24 near zero.
      expect(Math.abs(actual - expected)).toBeLessThanOrEqual(
        Math.abs(expected) * 2 ** -10 + 2 ** -24,
      )
    }
  }
})

describe.for([
  ['narrow', narrow],
  ['tiled', tiled],
] as const)('%s attention', ([, kernelsOf]) => {
  const half = cacheKernels(kernelsOf, 'float16')
  const D = kernelsOf.head_dim

  test('is the reference’s on what the cache holds', async () => {
    const [H, K] = [4, 2]
    const size: CacheSize = { rows: 4, n: 2, prompt_length: 5, response_columns: 4 }
    const { rows, n, prompt_length: P, response_columns: R } = size
    const heads = { num_attention_heads: H, num_key_value_heads: K, head_dim: D }
    const [width, scale] = [P + R, 1.5]
    const tokenSize = (H + 2 * K) * D
    // Padding before a prompt, within a response, and a row that has ended.
    const mask = Uint32Array.from({ length: rows * width }, (_, i) => {
      const [row, column] = [Math.floor(i / width), i % width]
      return Number(!(row < 2 && column < 2) && !(row === 3 && column > 6))
    })
    const cache = cacheTensor(gpu, 'cache', cacheTokens(size), heads, 'float16')
    const data = randomValues((rows / n) * P * tokenSize, 1).map((x) => 2 * x)
    const prompt = gpu.tensor('prompt', 'f32', [(rows / n) * P, tokenSize], { data })
    const first = { rows: rows / n, columns: P, first_token: 0, stride: P, ...heads }
    await gpu.run(half.write, first, { qkv: prompt, cache })
    const qkv = gpu.tensor('qkv', 'f32', [rows, tokenSize])
    const out = gpu.tensor('out', 'f32', [rows, H * D])
    const attention_mask = gpu.tensor('mask', 'u32', [rows, width], { data: mask })
    // At position 0 nothing turns.
    const position_ids = gpu.tensor('position_ids', 'u32', [rows])
    const inv_freq = gpu.tensor('inv_freq', 'f32', [D / 2])
    const norm_weight = gpu.tensor('norm_weight', 'f32', [2, D])
    for (let t = 0; t < R; t++) {
      const values = randomValues(rows * tokenSize, 10 + t).map((x) => 2 * x)
      gpu.write(qkv, values)
      const attend = { ...size, width, column: P + t, ...heads, scale }
      const tensors = { qkv, cache, attention_mask, out }
      if (half.step) {
        const turn = { position_ids, inv_freq, norm_weight }
        await gpu.run(half.step, { ...attend, has_qk_norm: 0, eps: 0 }, { ...tensors, ...turn })
      } else {
        const own = { rows, columns: 1, first_token: (rows / n) * P + t, stride: R, ...heads }
        await gpu.run(half.write, own, { qkv, cache })
        await gpu.run(half.decode, attend, tensors)
      }
      const [actual, words] = await gpu.read(out, cache)
      const held = halvesRef(words as unknown as Uint32Array)
      // The row as a whole: keys and values of the cache, queries of this token.
      const whole = new Float64Array(rows * width * tokenSize)
      for (let b = 0; b < rows; b++)
        for (let column = 0; column <= P + t; column++) {
          const at = (b * width + column) * tokenSize
          const token =
            column < P ? Math.floor(b / n) * P + column : (rows / n) * P + b * R + column - P
          whole.set(held.subarray(token * 2 * K * D, (token + 1) * 2 * K * D), at + H * D)
          // Of its own token the step has keys and values as they were projected.
          const own = half.step && column === P + t ? tokenSize : H * D
          whole.set(values.subarray(b * tokenSize, b * tokenSize + own), at)
        }
      const truth = attention_forward_ref(whole, mask, { rows, width, ...heads, scale })
      for (let b = 0; b < rows; b++) {
        const at = (b * width + P + t) * H * D
        const expected = truth.out.subarray(at, at + H * D)
        // As for float32 caches: what is rounded lies in the cache already.
        expectClose(actual.subarray(b * H * D, (b + 1) * H * D), expected, {
          atol: 3e-5,
          rtol: 3e-5,
        })
      }
    }
  })

  test('the check finds what halves cost, and leaves nothing behind', async () => {
    await checkHalfCache(gpu, kernelsOf)
    const before = gpu.counts.live_bytes
    const difference = await checkHalfCache(gpu, kernelsOf)
    expect(difference).toBeGreaterThan(1e-5)
    expect(difference).toBeLessThan(2e-3)
    expect(gpu.counts.live_bytes).toBe(before)
  })

  test('the check refuses a broken pack or unpack', async () => {
    const broken = (name: string, from: string, to: string): CacheKernels => {
      const change = <T extends { name: string; wgsl: string }>(kernel: T): T => {
        if (!kernel.wgsl.includes(from)) throw new Error(`${kernel.name} has no ${from}`)
        return { ...kernel, name: `${kernel.name}_${name}`, wgsl: kernel.wgsl.replaceAll(from, to) }
      }
      const { write, decode, step } = half
      return { write: change(write), decode: change(decode), ...(step && { step: change(step) }) }
    }
    for (const [name, from, to] of [
      ['snorm', 'pack2x16float(clamp', 'pack2x16snorm(clamp'],
      ['swapped', 'return pack2x16float(clamp(x,', 'return pack2x16float(clamp(x.yx,'],
      // Four bits of a half's eleven.
      ['coarse', 'return pack2x16float(', 'return 0xff80ff80u & pack2x16float('],
      ['no_number', 'return pack2x16float(', 'return 0x7e007e00u | pack2x16float('],
    ]) {
      const found = await checkHalfCache(gpu, kernelsOf, broken(name, from, to))
      expect(found, name).toBeGreaterThan(MAX_HALF_CACHE_DIFFERENCE)
    }
  })
})
