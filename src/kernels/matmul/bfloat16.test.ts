import { describe, expect, test } from 'vitest'
import { decode_linear, decode_swiglu } from '../decode/decode.ts'
import { variants as decodeVariants } from '../decode/decode_variants.ts'
import type { AnyKernel } from '../device/base/kernel.ts'
import { costOf } from '../device/timing/cost.ts'
import { everyKernel, expectOneInterface } from '../wgsl/testing.ts'
import { forWeight } from './bfloat16.ts'
import { variants as fusedVariants } from './matmul_fused.ts'
import { matmulKernel, variants } from './matmul_variants.ts'

const size = { m: 4, n: 6, k: 8 }

describe('forWeight', () => {
  const kernel = matmulKernel(undefined, 'nt', size)

  test('gives the kernel itself for float32, and one twin for bf16', () => {
    expect(forWeight(kernel, { dtype: 'f32' })).toBe(kernel)
    expect(forWeight(kernel, { dtype: 'bfloat16' })).not.toBe(kernel)
    expect(forWeight(kernel, { dtype: 'bfloat16' })).toBe(forWeight(kernel, { dtype: 'bfloat16' }))
  })

  test('counts two bytes for each number of the weight', () => {
    const params = { ...size, accumulate: 0 }
    const cost = (dtype: 'f32' | 'bfloat16', of: unknown = kernel) =>
      costOf(forWeight(of as AnyKernel, { dtype }), params)
    expect(cost('bfloat16')?.flops).toBe(cost('f32')?.flops)
    expect((cost('f32')?.bytes ?? 0) - (cost('bfloat16')?.bytes ?? 0)).toBe(2 * 6 * 8)
    const both =
      (cost('f32', decode_swiglu)?.bytes ?? 0) - (cost('bfloat16', decode_swiglu)?.bytes ?? 0)
    expect(both).toBe(2 * 2 * 6 * 8)
  })

  test('refuses a kernel that has no b', () => {
    const other = everyKernel.find(({ name }) => name === 'rms_norm_forward')
    expect(() => forWeight(other as AnyKernel, { dtype: 'bfloat16' })).toThrow(/binding b/)
  })
})

const products = [...variants, ...fusedVariants, ...decodeVariants, decode_linear, decode_swiglu]

test('every product has a twin of the same interface that reads b nowhere else', () => {
  for (const product of products as readonly AnyKernel[]) {
    const twin = forWeight(product, { dtype: 'bfloat16' })
    expectOneInterface(twin)
    expect(twin.wgsl.match(/\bb\[/g)?.length, twin.name).toBe(1)
    expect(twin.wgsl, twin.name).toContain('b_at(')
  }
})
