// Makes the caches of a rollout, in float32 or in halves where the adapter's halves will do.

import { type CacheSize, cacheTokens } from '../../kernels/attention/attention.ts'
import {
  type CacheDType,
  cacheDType,
  cacheKernels,
  cacheTensor,
} from '../../kernels/attention/attention_cache.ts'
import {
  checkHalfCache,
  MAX_HALF_CACHE_DIFFERENCE,
} from '../../kernels/attention/half_cache_check.ts'
import type { AttentionSize } from '../../kernels/attention/narrow.ts'
import { GpuError } from '../../kernels/device/base/errors.ts'
import { type Allocator, BINDING_ALIGNMENT, type Tensor } from '../../kernels/device/base/tensor.ts'
import type { Gpu } from '../../kernels/device/gpu.ts'
import type { ModelShape } from '../layout/config.ts'
import { decodedColumns, type RolloutSize } from './rollout_inputs.ts'

/** How a rollout's caches are laid out. Throws RangeError where rows is no multiple of n. */
export function cacheSize(size: RolloutSize): CacheSize {
  const { rows, n = 1, prompt_length } = size
  if (!Number.isInteger(n) || n < 1 || rows % n !== 0)
    throw new RangeError(`rollout: expected n to divide the ${rows} rows, got ${n}`)
  return { rows, n, prompt_length, response_columns: decodedColumns(size) - 1 }
}

/** Bytes of caches and logits that a rollout may take: more rows at once save few dispatches and
 * take memory from the weights. */
const GROUP_BYTES = 2 ** 29
/** WebGPU's default limit of a binding: the cache of one block, or the logits. */
const BINDING_BYTES = 2 ** 27

/** Rows that are decoded at once: all of them where their caches and logits take at most 512 MiB,
 * else the largest part of whole prompts that divides them. Rows that write in turns stay together.
 * `dtype` as asked for: float32 caches that take the place of halves are as many. */
export function groupRows(shape: ModelShape, size: RolloutSize): number {
  const { rows, n = 1, max_turns = 1, dtype = 'float32', groupRows } = size
  const whole = cacheSize(size)
  if (groupRows !== undefined || max_turns > 1) return groupRows ?? rows
  const fits = (count: number) => {
    const tokens = cacheTokens({ ...whole, rows: count })
    const perToken = 2 * shape.num_key_value_heads * shape.head_dim * (dtype === 'float16' ? 2 : 4)
    const logits = 4 * count * shape.vocab_size
    const caches = tokens * perToken
    const largest = Math.max(caches, logits)
    return largest <= BINDING_BYTES && caches * shape.num_hidden_layers + logits <= GROUP_BYTES
  }
  const prompts = rows / n
  for (let parts = 1; parts < prompts; parts++)
    if (prompts % parts === 0 && fits(rows / parts)) return rows / parts
  return n
}

/** Where keys and values are kept. */
export interface Caches {
  /** Per block [N · P + B · (R - 1), 2 · K · D], as halves [.., K · D]: each prompt once, then the
   * responses, whose last token nobody attends. */
  readonly caches: readonly Tensor[]
  /** The tensor that they are views of, [L, elements]; undefined for halves, and where they are too
   * large to be bound at once. */
  readonly allCaches: Tensor | undefined
}

/** One cache per block, in one tensor where that can be bound. */
export function createCaches(
  alloc: Allocator,
  shape: ModelShape,
  size: CacheSize,
  dtype: CacheDType,
): Caches {
  const { num_hidden_layers: L, num_key_value_heads: K, head_dim: D } = shape
  const tokens = cacheTokens(size)
  const ofBlocks = (of: (l: number) => Tensor) => Array.from({ length: L }, (_, l) => of(l))
  const aligned = BINDING_ALIGNMENT / 4
  const stride = Math.ceil((tokens * 2 * K * D) / aligned) * aligned
  if (dtype === 'float16' || L * stride * 4 > BINDING_BYTES)
    return {
      caches: ofBlocks((l) => cacheTensor(alloc, `kv_cache.${l}`, tokens, shape, dtype)),
      allCaches: undefined,
    }
  const all = alloc.tensor('kv_cache', 'f32', [L, stride], { kind: 'kv_cache' })
  const shapeOf = [tokens, 2 * K * D]
  return {
    caches: ofBlocks((l) => alloc.view(all, `kv_cache.${l}`, l * stride, shapeOf)),
    allCaches: all,
  }
}

/** What a rollout's caches turned out to be. */
export interface SettledCaches extends Caches {
  readonly dtype: CacheDType
  /** What `check` found, where halves were asked for and could be compared. */
  readonly difference: number | undefined
  /** Why they are not what was asked for; undefined where they are. */
  readonly fallback_reason: string | undefined
}

/** What is settled for: the model, and the columns of prompt and response. */
export interface CacheNeeds {
  readonly shape: ModelShape
  readonly cache: CacheSize
  readonly width: number
}

/** Caches of halves stay if `check` finds this adapter's attention from them within 2e-2 of
 * attention from float32 ones. Otherwise they are freed and float32 ones made, twice as large; the
 * reason says what was found. Float32 caches stay as they are. */
export async function settleCaches(
  gpu: Gpu,
  { shape, cache, width }: CacheNeeds,
  given: Caches,
  check: typeof checkHalfCache = checkHalfCache,
): Promise<SettledCaches> {
  const { caches } = given
  const dtype = caches.length > 0 ? cacheDType(caches[0]) : 'float32'
  if (dtype === 'float32')
    return { ...given, dtype, difference: undefined, fallback_reason: undefined }
  const { head_dim, narrowKernels } = shape
  const found = await compareHalves(gpu, { width, head_dim, narrowKernels }, check)
  if (found.fallback_reason === undefined) return { ...given, dtype, ...found }
  gpu.free(...caches)
  return { ...createCaches(gpu, shape, cache, 'float32'), dtype: 'float32', ...found }
}

async function compareHalves(
  gpu: Gpu,
  size: AttentionSize,
  check: typeof checkHalfCache,
): Promise<Pick<SettledCaches, 'difference' | 'fallback_reason'>> {
  try {
    const difference = await check(gpu, size, cacheKernels(size, 'float16'))
    if (difference <= MAX_HALF_CACHE_DIFFERENCE) return { difference, fallback_reason: undefined }
    const fallback_reason = [
      `attention from a float16 cache differs by ${difference.toPrecision(2)} of its largest value`,
      `on this adapter; at most ${MAX_HALF_CACHE_DIFFERENCE} is allowed`,
    ].join(' ')
    return { difference, fallback_reason }
  } catch (error) {
    if (error instanceof GpuError && error.code === 'shader')
      return { difference: undefined, fallback_reason: error.message }
    throw error
  }
}
