import { expect, test } from 'vitest'
import { Gpu } from '../device/gpu.ts'
import { matmul_nn } from './matmul.ts'
import { matmulAgrees, tuneMatmul } from './matmul_tune.ts'
import { MATMUL_VARIANTS, type MatmulVariant, matmulVariant } from './matmul_variants.ts'

const gpu = await Gpu.open()
const product = { op: 'nn', m: 64, n: 64, k: 64 } as const
const plenty = 1e6 // milliseconds: however slow the adapter, everything is measured

/** Does nothing, at once. */
const idle: MatmulVariant = {
  ...matmulVariant('register_8x8'),
  name: 'idle',
  kernel: () =>
    ({
      ...matmul_nn,
      name: 'matmul_idle',
      wgsl: matmul_nn.wgsl.replace('if (row >= params.m || col >= params.n)', 'if (true)'),
    }) as never,
}

test('measures each class once, largest first, and names a variant for it', async () => {
  const shapes = [
    product,
    { ...product, op: 'nt_add', m: 65, n: 7 },
    { ...product, m: 60 },
  ] as const
  const variants = [matmulVariant('vector_4x4')]
  const { choice, timings } = await tuneMatmul(gpu, shapes, { budgetMs: plenty, variants })
  expect(Object.keys(choice)).toEqual(['nn_m64_n64_k64', 'nt_add_m128_n7_k64'])
  for (const name of Object.values(choice)) expect(['vector_8x8', 'vector_4x4']).toContain(name)
  expect(timings.map(({ shape_class, variant }) => [shape_class, variant])).toEqual([
    ['nn_m64_n64_k64', 'vector_8x8'],
    ['nn_m64_n64_k64', 'vector_4x4'],
    ['nt_add_m128_n7_k64', 'vector_8x8'],
    ['nt_add_m128_n7_k64', 'vector_4x4'],
  ])
  for (const { ms, is_wrong } of timings) {
    expect(ms).toBeGreaterThan(0)
    expect(is_wrong).toBe(false)
  }
})

test('measures only what supports the size', async () => {
  const odd = { op: 'nn', m: 7, n: 13, k: 5 } as const
  const { choice, timings } = await tuneMatmul(gpu, [odd], { budgetMs: plenty })
  expect(choice).toEqual({ nn_m8_n13_k5: 'register_8x8' })
  expect(timings.length).toBe(1)
})

test('never chooses a variant whose result is wrong, however fast', async () => {
  const large = { ...product, m: 256, k: 256 }
  const options = { budgetMs: plenty, variants: [idle] }
  const { choice, timings } = await tuneMatmul(gpu, [large], options)
  expect(choice).toEqual({ nn_m256_n64_k256: 'vector_8x8' })
  const [expected, actual] = timings
  expect([expected.variant, actual.variant]).toEqual(['vector_8x8', 'idle'])
  // Only a variant that is faster is compared, and on a busy machine even idling can be measured as
  // slower.
  expect(actual.is_wrong).toBe(actual.ms * 1.05 <= expected.ms)
  expect(await matmulAgrees(gpu, large, idle)).toBe(false)
})

test('a spent budget leaves the defaults', async () => {
  expect(await tuneMatmul(gpu, [product], { budgetMs: 0 })).toEqual({ choice: {}, timings: [] })
})

test('a pinned class is kept and not measured', async () => {
  const pinned = { nn_m64_n64_k64: 'staged_64x64_8x8' }
  const { choice, timings } = await tuneMatmul(gpu, [product], { budgetMs: plenty, pinned })
  expect([choice, timings]).toEqual([pinned, []])
})

test('a pinned name that no variant has is refused', async () => {
  const pinned = { nn_m64_n64_k64: 'tile_9x9' }
  await expect(tuneMatmul(gpu, [product], { pinned })).rejects.toThrow(
    /nn_m64_n64_k64.*"tile_9x9".*expected one of register_8x8/,
  )
})

test('leaves no tensor behind', async () => {
  const variants = MATMUL_VARIANTS.slice(0, 1)
  await tuneMatmul(gpu, [product], { budgetMs: plenty, variants })
  const before = gpu.counts.live_bytes
  await tuneMatmul(gpu, [product], { budgetMs: plenty, variants })
  expect(gpu.counts.live_bytes).toBe(before)
})
