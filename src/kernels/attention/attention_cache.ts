// Declares the kernels that write and read a cache of keys and values, kept in float32 or in
// halves.
import { foldGrid } from '../device/base/kernel.ts'
import type { Allocator, Tensor } from '../device/base/tensor.ts'
import rope_head from '../rope/rope_head.wgsl?raw'
import rope_rotation from '../rope/rope_rotation.wgsl?raw'
import {
  type AttentionStep,
  attention_decode,
  attentionKernels,
  kv_cache_write,
} from './attention.ts'
import decode from './attention_decode.wgsl?raw'
import narrow_step from './attention_narrow_step.wgsl?raw'
import { cacheWriteCost, decodeCost, stepCost } from './cache_cost.ts'
import cache_f16 from './cache_f16.wgsl?raw'
import cache_token from './cache_token.wgsl?raw'
import cache_write from './kv_cache_write.wgsl?raw'
import type { AttentionSize } from './narrow.ts'
import { narrowStepSource } from './narrow_source.ts'
import { cacheInQuads } from './quads.ts'

/** verl's names of what a rollout computes with; here what its keys and values are kept in. */
export type CacheDType = 'float32' | 'float16'

/** The kernels of one kind of cache, all of one interface. */
export interface CacheKernels {
  readonly write: typeof kv_cache_write
  readonly decode: typeof attention_decode
  readonly step?: AttentionStep
}

/** kv_cache_write for a cache of halves: every key and value becomes the nearest float16 (or a
 * neighbour of it, as the adapter rounds), beyond ±65504 that. */
export const kv_cache_write_f16: typeof kv_cache_write = {
  ...kv_cache_write,
  name: 'kv_cache_write_f16',
  wgsl: cache_write + cache_f16,
  workgroups: ({ rows, columns, num_key_value_heads, head_dim }) =>
    foldGrid(Math.ceil((rows * columns * num_key_value_heads * head_dim) / 64)),
  cost: cacheWriteCost(2),
}

/** attention_decode from a cache of halves. Sums in float32, in the same order. */
export const attention_decode_f16: typeof attention_decode = {
  ...attention_decode,
  name: 'attention_decode_f16',
  wgsl: decode + cache_token + cache_f16,
  cost: decodeCost(2),
}

const halfDecodeInQuads = cacheInQuads(attention_decode_f16)

const steps = new Map<AttentionStep, AttentionStep>()

/** attention_step with a cache of halves. The token's own key and value are in registers and are
 * used in float32. */
function halfStep(step: AttentionStep, head_dim: number): AttentionStep {
  const known = steps.get(step)
  if (known) return known
  const made: AttentionStep = {
    ...step,
    name: `${step.name}_f16`,
    wgsl: narrowStepSource(
      narrow_step + cache_token + rope_head + rope_rotation + cache_f16,
      head_dim,
    ),
    cost: stepCost(2),
  }
  steps.set(step, made)
  return made
}

/** The kernels for a cache of this dtype beside attentionKernels(size). */
export function cacheKernels(size: AttentionSize, dtype: CacheDType): CacheKernels {
  const { decode, step } = attentionKernels(size)
  if (dtype === 'float32') return { write: kv_cache_write, decode, ...(step && { step }) }
  return {
    write: kv_cache_write_f16,
    decode: decode === attention_decode ? attention_decode_f16 : halfDecodeInQuads(size.head_dim),
    ...(step && { step: halfStep(step, size.head_dim) }),
  }
}

/** A cache of `tokens` tokens of K heads of keys and of values, [tokens, 2·K·D]; of halves two in
 * each u32, [tokens, K·D]. */
export function cacheTensor(
  alloc: Allocator,
  label: string,
  tokens: number,
  {
    num_key_value_heads: K,
    head_dim: D,
  }: {
    readonly num_key_value_heads: number
    readonly head_dim: number
  },
  dtype: CacheDType,
): Tensor {
  return dtype === 'float16'
    ? alloc.tensor(label, 'u32', [tokens, K * D], { kind: 'kv_cache' })
    : alloc.tensor(label, 'f32', [tokens, 2 * K * D], { kind: 'kv_cache' })
}

/** What cacheTensor made. */
export const cacheDType = ({ dtype }: Tensor): CacheDType =>
  dtype === 'u32' ? 'float16' : 'float32'

/** Instances for the checks that every kernel passes. */
export const variants = [4, 16, 64].flatMap((head_dim) =>
  Object.values(cacheKernels({ width: 1, head_dim }, 'float16')),
)
