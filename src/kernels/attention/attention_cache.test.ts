import { expect, test } from 'vitest'
import { MemoryPlan } from '../device/base/tensor.ts'
import { costOf } from '../device/timing/cost.ts'
import { attention_decode, kv_cache_write } from './attention.ts'
import { halfRef, halvesRef } from './attention_cache.ref.ts'
import { cacheDType, cacheKernels, cacheTensor } from './attention_cache.ts'

test('half_ref: one, the smallest, the largest, a third, signs', () => {
  expect([0x3c00, 1, 0x7bff, 0xc000, 0x3555, 0x8000].map(halfRef)).toEqual([
    1,
    2 ** -24,
    65504,
    -2,
    0.333251953125,
    -0,
  ])
  expect(halfRef(0x7c00)).toBe(Number.POSITIVE_INFINITY)
  expect(halfRef(0x7e00)).toBeNaN()
  expect([...halvesRef(Uint32Array.of(0x3c00c000, 0))]).toEqual([-2, 1, 0, 0])
})

test('a cache of halves takes half the bytes', () => {
  const heads = { num_key_value_heads: 2, head_dim: 6 }
  const bytes = (['float32', 'float16'] as const).map((dtype) => {
    const plan = new MemoryPlan()
    expect(cacheDType(cacheTensor(plan, 'cache', 7, heads, dtype))).toBe(dtype)
    return plan.bytes.kv_cache
  })
  expect(bytes).toEqual([4 * 7 * 24, 2 * 7 * 24])
})

test('float32 has the kernels of attention.ts; halves have others of the same interface', () => {
  const [narrow, tiled] = [
    { width: 20, head_dim: 16 },
    { width: 2000, head_dim: 16 },
  ]
  const exact = cacheKernels(narrow, 'float32')
  const ofFives = cacheKernels({ width: 20, head_dim: 5 }, 'float32')
  expect([exact.write, ofFives.decode]).toEqual([kv_cache_write, attention_decode])
  expect(exact.decode.name).toBe('attention_decode_quads_64')
  expect(cacheKernels({ width: 20, head_dim: 128 }, 'float32').decode.name).toBe(
    'attention_decode_quads',
  )
  const half = cacheKernels(narrow, 'float16')
  expect(half.step?.name).toBe(`${exact.step?.name}_f16`)
  expect(half.step?.bindings).toEqual(exact.step?.bindings)
  expect(cacheKernels(narrow, 'float16').step).toBe(half.step)
  expect(cacheKernels(tiled, 'float16').step).toBeUndefined()
  // Odd rows of pairs: 3 tokens of 2 · 1 · 5 elements.
  const size = { rows: 3, columns: 1, first_token: 0, stride: 1, num_attention_heads: 1 }
  const odd = { ...size, num_key_value_heads: 13, head_dim: 5 }
  expect(half.write.workgroups(odd)).toEqual([4, 1]) // 195 pairs
  expect(exact.write.workgroups(odd)).toEqual([7, 1]) // 390 elements
})

test('costs: keys and values count by their size, arithmetic is the same', () => {
  const cost = (
    dtype: 'float32' | 'float16',
    kernel: 'write' | 'decode' | 'step',
    params: object,
  ) => {
    const of = cacheKernels({ width: 16, head_dim: 4 }, dtype)[kernel]
    return of && costOf(of as never, params as Record<string, number>)
  }
  const heads = { num_attention_heads: 2, num_key_value_heads: 1, head_dim: 4 }
  // 6 tokens of 8 values, read as float32.
  const write = { rows: 3, columns: 2, first_token: 0, stride: 2, ...heads }
  expect(cost('float32', 'write', write)).toEqual({ flops: 0, bytes: 48 * 8 })
  expect(cost('float16', 'write', write)).toEqual({ flops: 0, bytes: 48 * 6 })
  // Column 6 of rows with 4 prompt columns, two rows to a prompt: 2 prompts of 4 tokens, 4 rows of
  // 3 more.
  const size = { rows: 4, n: 2, prompt_length: 4, response_columns: 5, width: 10, column: 6 }
  const flops = 4 * 2 * 7 * 16
  const decode = { ...size, ...heads, scale: 1 }
  const rest = 4 * (2 * 4 * 8 + 4 * 7)
  expect(cost('float32', 'decode', decode)).toEqual({ flops, bytes: rest + 4 * 20 * 8 })
  expect(cost('float16', 'decode', decode)).toEqual({ flops, bytes: rest + 2 * 20 * 8 })
  // The step reads all of qkv (16 values a row), one position a row, two frequencies, and 16
  // tokens, and writes 4.
  const step = { ...decode, has_qk_norm: 0, eps: 0 }
  const own = 4 * (4 * 16 + 4 * 8 + 4 * 7 + 4 + 2)
  const turned = 4 * 3 * 4
  expect(cost('float32', 'step', step)).toEqual({ flops: flops + 3 * turned, bytes: own + 640 })
  // Its norm has 2 x 4 weights; the last column has no place in the cache: 20 tokens read, none
  // written.
  const last = { ...step, has_qk_norm: 1, column: 9 }
  expect(cost('float16', 'step', last)).toEqual({
    flops: 4 * 2 * 10 * 16 + 7 * turned,
    bytes: 4 * (4 * 16 + 4 * 8 + 4 * 10 + 4 + 2 + 8) + 2 * (8 + 20) * 8,
  })
})
