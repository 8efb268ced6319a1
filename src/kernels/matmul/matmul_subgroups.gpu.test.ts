// Products whose lanes' parts are summed by subgroups: the same tree whatever a subgroup's size,
// and nothing wrong is chosen.
import { describe, expect, test } from 'vitest'
import { Gpu } from '../device/gpu.ts'
import { randomValues } from '../testing.ts'
import { hasFeatures, matmulAgrees, tuneMatmul } from './matmul_tune.ts'
import {
  MATMUL_VARIANTS,
  type MatmulKernel,
  type MatmulVariant,
  matmulVariant,
  tileVariant,
} from './matmul_variants.ts'

const gpu = await Gpu.open()
const deep = matmulVariant('subgroups_16x16')
/** Few enough lanes share a result for the smallest subgroup. */
const few = tileVariant('subgroups_few', {
  down: 8,
  across: 8,
  rows: 4,
  cols: 4,
  slices: 4,
  stage: 0,
  subgroups: true,
})
const all = [few, ...MATMUL_VARIANTS.filter(({ tiling }) => tiling?.subgroups)]

/** The variant with its source changed. */
function changed(variant: MatmulVariant, name: string, from: string, to: string): MatmulVariant {
  const kernel = (op: 'nt') => {
    const { wgsl, ...rest } = variant.kernel(op)
    if (!wgsl.includes(from)) throw new Error(`${rest.name} has no ${from}`)
    return { ...rest, name: `${rest.name}_${name}`, wgsl: wgsl.replaceAll(from, to) }
  }
  return { ...variant, name: `${variant.name}_${name}`, kernel: kernel as never }
}

test('there are such variants, and each asks for subgroups before anything else', () => {
  expect(all.map(({ name }) => name)).toContain('subgroups_8x16')
  for (const { kernel, requires } of all) {
    expect(requires).toEqual(['subgroups'])
    expect(kernel('nt').requires).toEqual(['subgroups'])
    expect(kernel('nt').wgsl.startsWith('enable subgroups;\n')).toBe(true)
  }
})

describe.skipIf(!gpu.facts.has_subgroups)('on an adapter with subgroups', () => {
  test('more slices than a subgroup has lanes: the same bits, the last steps by workgroup memory', async () => {
    // As if a subgroup held the fewest lanes that WebGPU allows.
    const of_4 = changed(deep, 'of_4', 'mask < subgroup_size', 'mask < min(subgroup_size, 4u)')
    const [m, n, k] = [19, 20, 84]
    const tensors = {
      a: gpu.tensor('a', 'f32', [m, k], { data: randomValues(m * k, 1) }),
      b: gpu.tensor('b', 'f32', [n, k], { data: randomValues(n * k, 2) }),
      out: gpu.tensor('out', 'f32', [m, n]),
    }
    const results: Float32Array[] = []
    for (const { kernel } of [deep, of_4]) {
      const size = { m, n, k, accumulate: 0 }
      await gpu.run(kernel('nt') as MatmulKernel<'nn'>, size, tensors)
      results.push((await gpu.read(tensors.out))[0])
    }
    expect(results[1]).toEqual(results[0])
    expect(results[0].every((x) => x !== 0)).toBe(true)
  })

  test('the comparison with the default accepts each of them and refuses broken ones', async () => {
    const product = { op: 'nt', m: 32, n: 48, k: 64 } as const
    for (const variant of all)
      expect(await matmulAgrees(gpu, product, variant), variant.name).toBe(true)
    for (const [name, from, to] of [
      ['crossed', ', 1u);', ', 2u);'],
      ['lossy', 'if (slice < 4u)', 'if (slice < 3u)'],
      ['late', 'var p = slice;', 'var p = slice + 1u;'],
    ])
      expect(await matmulAgrees(gpu, product, changed(few, name, from, to)), name).toBe(false)
  })

  test('a broken one is not chosen, even where it is the fastest', async () => {
    // No more than each lane's first term.
    const quick = changed(few, 'quick', 'p += 4u', 'p += 65536u')
    const product = { op: 'nt', m: 256, n: 64, k: 4096 } as const
    const variants = [{ ...quick, suitsSoftware: true }]
    const { choice, timings } = await tuneMatmul(gpu, [product], { budgetMs: 1e6, variants })
    expect(choice).toEqual({ nt_m256_n64_k4096: 'vector_8x8' })
    expect(timings.map(({ variant, is_wrong }) => [variant, is_wrong])).toEqual([
      ['vector_8x8', false],
      ['subgroups_few_quick', true],
    ])
  })
})

test('the tuner offers them only where the device has subgroups', async () => {
  const plain = await Gpu.open({ features: false })
  const product = { op: 'nt', m: 16, n: 16, k: 16 } as const
  const variants = [{ ...few, suitsSoftware: true }]
  for (const [device, expected] of [
    [plain, []],
    [gpu, gpu.facts.has_subgroups ? ['subgroups_few'] : []],
  ] as const) {
    const { timings } = await tuneMatmul(device, [product], { budgetMs: 1e6, variants })
    expect(timings.slice(1).map(({ variant }) => variant)).toEqual(expected)
    expect(hasFeatures(device, variants[0])).toBe(expected.length > 0)
  }
  plain.destroy()
})
