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
import type { Allocator, Tensor } from '../../kernels/device/base/tensor.ts'
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

/** One cache per block. */
export const createCaches = (
  alloc: Allocator,
  shape: ModelShape,
  size: CacheSize,
  dtype: CacheDType,
): readonly Tensor[] =>
  Array.from({ length: shape.num_hidden_layers }, (_, l) =>
    cacheTensor(alloc, `kv_cache.${l}`, cacheTokens(size), shape, dtype),
  )

/** What a rollout's caches turned out to be. */
export interface SettledCaches {
  readonly caches: readonly Tensor[]
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
  caches: readonly Tensor[],
  check: typeof checkHalfCache = checkHalfCache,
): Promise<SettledCaches> {
  const dtype = caches.length > 0 ? cacheDType(caches[0]) : 'float32'
  if (dtype === 'float32')
    return { caches, dtype, difference: undefined, fallback_reason: undefined }
  const { head_dim, narrowKernels } = shape
  const found = await compareHalves(gpu, { width, head_dim, narrowKernels }, check)
  if (found.fallback_reason === undefined) return { caches, dtype, ...found }
  gpu.free(...caches)
  return { caches: createCaches(gpu, shape, cache, 'float32'), dtype: 'float32', ...found }
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
