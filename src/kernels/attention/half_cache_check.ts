// Checks whether a cache of halves is accurate enough on this adapter, by comparing attention from
// it with attention from a float32 cache.

import type { Tensor } from '../device/base/tensor.ts'
import type { Gpu } from '../device/gpu.ts'
import { type CacheSize, cacheTokens } from './attention.ts'
import { type CacheDType, type CacheKernels, cacheKernels, cacheTensor } from './attention_cache.ts'
import type { AttentionSize } from './narrow.ts'

/** What checkHalfCache may find at most: a half has 11 bits, 5e-4, and a few roundings add up. */
export const MAX_HALF_CACHE_DIFFERENCE = 2e-2

// Two prompts of five tokens, two rows each; three tokens of response, all kept.
const SIZE: CacheSize = { rows: 4, n: 2, prompt_length: 5, response_columns: 3 }
const [H, K] = [4, 2]

/** Runs attention steps on this adapter with a cache of halves and with a float32 one, on the same
 * seeded values, and gives the largest difference between their results, relative to the largest
 * result: below 1e-3 where halves work, Infinity where they give no number. No model is needed:
 * `size` chooses the kernels, as for attentionKernels; `half` stands for those that are looked at.
 * Leaves no tensor behind. Throws GpuError for a kernel that does not compile. */
export async function checkHalfCache(
  gpu: Gpu,
  size: AttentionSize = { width: 32, head_dim: 16 },
  half: CacheKernels = cacheKernels(size, 'float16'),
): Promise<number> {
  const exact = cacheKernels(size, 'float32')
  const expected = await attendSteps(gpu, exact, 'float32', size.head_dim)
  const actual = await attendSteps(gpu, half, 'float16', size.head_dim)
  const largest = (x: Float32Array) => x.reduce((most, v) => Math.max(most, Math.abs(v)), 0)
  const ratio = largest(actual.map((x, i) => x - expected[i])) / largest(expected)
  return Number.isFinite(ratio) ? ratio : Number.POSITIVE_INFINITY
}

/** Numbers in [-2, 2) that follow no order: multiples of the golden ratio. */
const values = (count: number, seed: number): Float32Array =>
  Float32Array.from(
    { length: count },
    (_, i) => (Math.imul(i + 1009 * seed, 0x9e3779b1) >>> 8) / 2 ** 22 - 2,
  )

/** The attention output of every response token, in order: [steps, rows, H · D]. */
async function attendSteps(
  gpu: Gpu,
  { write, decode, step }: CacheKernels,
  dtype: CacheDType,
  head_dim: number,
): Promise<Float32Array> {
  const { rows, n, prompt_length: P, response_columns: steps } = SIZE
  const heads = { num_attention_heads: H, num_key_value_heads: K, head_dim }
  const tokenSize = (H + 2 * K) * head_dim
  const kept: Tensor[] = []
  const keep = <T extends Tensor>(tensor: T): T => {
    kept.push(tensor)
    return tensor
  }
  const f32 = (label: string, data: Float32Array) =>
    keep(gpu.tensor(`half_cache.${label}`, 'f32', [data.length], { data }))
  const u32 = (label: string, data: Uint32Array) =>
    keep(gpu.tensor(`half_cache.${label}`, 'u32', [data.length], { data }))
  try {
    const cache = keep(cacheTensor(gpu, 'half_cache', cacheTokens(SIZE), heads, dtype))
    const prompt = f32('prompt', values((rows / n) * P * tokenSize, 1))
    const first = { rows: rows / n, columns: P, first_token: 0, stride: P, ...heads }
    await gpu.run(write, first, { qkv: prompt, cache })
    const width = P + steps
    const attention_mask = u32('mask', new Uint32Array(rows * width).fill(1))
    const out = keep(gpu.tensor('half_cache.out', 'f32', [rows, H * head_dim]))
    const turn = {
      norm_weight: f32('norm_weight', values(2 * head_dim, 2)),
      inv_freq: f32('inv_freq', values(Math.ceil(head_dim / 2), 3)),
    }
    const results: Float32Array[] = []
    for (let t = 0; t < steps; t++) {
      const qkv = f32('qkv', values(rows * tokenSize, 4 + t))
      const attend = { ...SIZE, width, column: P + t, ...heads, scale: head_dim ** -0.5 }
      const tensors = { qkv, cache, attention_mask, out }
      if (step) {
        const position_ids = u32('position_ids', new Uint32Array(rows).fill(P + t))
        const params = { ...attend, has_qk_norm: 0, eps: 0 }
        await gpu.run(step, params, { ...tensors, ...turn, position_ids })
      } else {
        const own = { rows, columns: 1, first_token: (rows / n) * P + t, stride: steps, ...heads }
        await gpu.run(write, own, { qkv, cache })
        await gpu.run(decode, attend, tensors)
      }
      results.push((await gpu.read(out))[0])
    }
    return Float32Array.from(results.flatMap((x) => [...x]))
  } finally {
    gpu.free(...kept)
  }
}
