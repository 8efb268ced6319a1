import { expect, test } from 'vitest'
import { decode_linear, decode_swiglu } from '../decode/decode.ts'
import { Gpu } from '../device/gpu.ts'
import { randomValues } from '../testing.ts'
import { forWeight } from './bfloat16.ts'
import { matmul_nn, matmul_nt, matmul_nt_add } from './matmul.ts'
import { fusedVariant } from './matmul_fused.ts'
import { type MatmulSize, matmulVariant } from './matmul_variants.ts'

const gpu = await Gpu.open()

/** Bit patterns of bfloat16 that look random, zeros, numbers below the normal ones and large ones
 * among them. */
function bfloats(count: number, seed: number): Uint16Array {
  const halves = Uint16Array.from(
    randomValues(count, seed),
    (x) => new Uint32Array(Float32Array.of(x).buffer)[0] >>> 16,
  )
  halves.set([0, 0x8000, 0x0001, 0x4780].slice(0, count))
  return halves
}

/** The same numbers in float32. */
const widened = (halves: Uint16Array): Float32Array =>
  new Float32Array(Uint32Array.from(halves, (half) => half << 16).buffer)

const f32 = (label: string, count: number, seed: number) =>
  gpu.tensor(label, 'f32', [count], { data: randomValues(count, seed) })

/** The weight in both forms. */
function weights(count: number) {
  const halves = bfloats(count, 7)
  return [
    gpu.tensor('b', 'f32', [count], { data: widened(halves) }),
    gpu.tensor('b', 'bfloat16', [count], { data: halves }),
  ] as const
}

const sizes: readonly MatmulSize[] = [
  { m: 13, n: 6, k: 5 },
  { m: 12, n: 36, k: 20 },
  { m: 70, n: 68, k: 8 },
]
const vector = matmulVariant('vector_4x4')
const [staged, slices] = ['staged_32x32_4x4', 'slices_16x16'].map((name) => matmulVariant(name))

const products = [
  ['matmul_nt', () => true, matmul_nt],
  ['matmul_nn', () => true, matmul_nn],
  ['nt vector_4x4', (size: MatmulSize) => vector.supports('nt', size), vector.kernel('nt')],
  ['nn vector_4x4', (size: MatmulSize) => vector.supports('nn', size), vector.kernel('nn')],
  ['nt staged_32x32_4x4', (size: MatmulSize) => staged.supports('nt', size), staged.kernel('nt')],
  ['nn slices_16x16', (size: MatmulSize) => slices.supports('nn', size), slices.kernel('nn')],
] as const

test.for(products)('%s has the bits of the same weight in float32', async ([, fits, kernel]) => {
  for (const size of sizes.filter(fits)) {
    const { m, n, k } = size
    const a = f32('a', m * k, 1)
    const outs = weights(n * k).map((b) => ({ b, out: f32('out', m * n, 2) }))
    for (const { b, out } of outs)
      await gpu.run(forWeight(kernel, b), { ...size, accumulate: 1 }, { a, b, out })
    const [exact, halves] = await gpu.read(...outs.map(({ out }) => out))
    expect(halves, JSON.stringify(size)).toEqual(exact)
  }
})

test('so do products that add, and those with SwiGLU', async () => {
  const size = { m: 12, n: 36, k: 20 }
  const { m, n, k } = size
  const [a, addend, gate_up] = [f32('a', m * k, 1), f32('addend', n, 2), f32('g', 2 * m * n, 3)]
  const ended = gpu.tensor('ended', 'u32', [m])
  const fused = (op: 'nt_swiglu' | 'nn_swiglu') => {
    const kernel = fusedVariant(vector, op, size)
    if (!kernel) throw new Error(`vector_4x4 has no ${op}`)
    return kernel as never as typeof matmul_nt
  }
  const results = []
  for (const b of weights(2 * n * k)) {
    const outs = Array.from({ length: 7 }, (_, i) => gpu.tensor(`out${i}`, 'f32', [2 * m * n]))
    const [plain, quick, gates, swiglu, d_gate_up, token, ffn] = outs
    const added = { ...size, addend_stride: 0 }
    await gpu.run(forWeight(matmul_nt_add, b), added, { a, b, addend, out: plain })
    await gpu.run(forWeight(vector.kernel('nt_add'), b), added, { a, b, addend, out: quick })
    const run = gpu.run.bind(gpu) as (...args: unknown[]) => Promise<void>
    await run(forWeight(fused('nt_swiglu'), b), size, { a, b, gate_up: gates, out: swiglu })
    await run(forWeight(fused('nn_swiglu'), b), size, { a, b, gate_up, d_gate_up })
    const decoded = { ...added, has_addend: 1 }
    await gpu.run(forWeight(decode_linear, b), decoded, { a, b, addend, ended, out: token })
    await gpu.run(forWeight(decode_swiglu, b), size, { a, b, ended, out: ffn })
    results.push(await gpu.read(...outs))
  }
  const [exact, halves] = results
  for (const [i, values] of exact.entries()) {
    expect(halves[i], `output ${i}`).toEqual(values)
    expect(values.some((x) => x !== 0)).toBe(true)
  }
})
