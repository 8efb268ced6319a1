// Tries the limit on long dispatches: a product is made so large that it takes longer than a
// watchdog may like, and then runs in parts.
import type { Tensor } from '../../src/kernels/device/base/tensor.ts'
import { Gpu } from '../../src/kernels/device/gpu.ts'
import { matmul_nt } from '../../src/kernels/matmul/matmul.ts'
import type { MatmulSize } from '../../src/kernels/matmul/matmul_variants.ts'
import { seededValues } from './values.ts'

export interface LimitsRow extends MatmulSize {
  /** No dispatch should take longer, in milliseconds. */
  readonly most_ms: number
  /** Of the product as one dispatch. */
  readonly whole_ms: number
  /** It runs in so many parts from then on; 1 where it was not cut. */
  readonly parts: number
  /** Of all parts together. */
  readonly parts_ms: number
  readonly has_same_bits: boolean
}

const MOST_MS = 50
/** A dispatch is measured in so many rounds at most before it is cut. */
const ROUNDS = 3
const FIRST = { gpu: 2048, software: 128 }
/** Twice one side at a time, so often at most. */
const MOST_DOUBLINGS = 12
/** Values that are uploaded at a time. */
const PIECE = 2 ** 20

const bytesOf = ({ m, n, k }: MatmulSize) => 4 * Math.max(m * k, n * k, m * n)

/** A product of this size on a device of its own. */
async function open(size: MatmulSize, limited: boolean) {
  const gpu = await Gpu.open({ largest: { label: 'a factor', bytes: bytesOf(size) } })
  if (limited) gpu.limitDispatches({ mostMs: MOST_MS })
  const { m, n, k } = size
  const a = filled(gpu, 'a', m * k)
  const b = filled(gpu, 'b', n * k)
  const out = gpu.tensor('out', 'f32', [m * n])
  const program = await gpu.record('large', [], (r) =>
    r.run(matmul_nt, { ...size, accumulate: 0 }, { a, b, out }),
  )
  const time = async () => {
    const start = performance.now()
    gpu.replay(program)
    await gpu.finish()
    return performance.now() - start
  }
  await time() // what the first use compiles
  return { gpu, out, program, time }
}

function filled(gpu: Gpu, label: string, count: number): Tensor<'f32'> {
  const tensor = gpu.tensor(label, 'f32', [count])
  const values = seededValues(Math.min(PIECE, count), 1)
  for (let at = 0; at < count; at += PIECE)
    gpu.write(tensor, values.subarray(0, Math.min(PIECE, count - at)), at)
  return tensor
}

/** The smallest product, by doubling, that takes longer than the limit as one dispatch. */
async function longProduct(): Promise<{ size: MatmulSize; ms: number; out: Float32Array }> {
  const probe = await Gpu.open()
  const { is_software } = probe.facts
  probe.destroy()
  const first = FIRST[is_software ? 'software' : 'gpu']
  let size: MatmulSize = { m: first, n: first, k: first }
  for (let doubled = 0; doubled <= MOST_DOUBLINGS; doubled++) {
    const { gpu, out, time } = await open(size, false)
    const ms = await time()
    const values = ms > MOST_MS ? (await gpu.read(out))[0] : undefined
    gpu.destroy()
    if (values) return { size, ms, out: values }
    const side = (['k', 'm', 'n'] as const)[doubled % 3]
    size = { ...size, [side]: 2 * size[side] }
  }
  throw new Error(`limits: no product of up to ${size.m} x ${size.n} took ${MOST_MS} ms`)
}

export async function benchLimits(): Promise<LimitsRow> {
  const { size, ms: whole_ms, out: expected } = await longProduct()
  const { gpu, out, program, time } = await open(size, true)
  for (let i = 0; i < ROUNDS; i++) {
    await time()
    await gpu.settleDispatches()
  }
  const parts_ms = await time()
  const [actual] = await gpu.read(out)
  const [step] = program.steps
  const parts = (step.kind === 'stretch' ? step.dispatches[0].cut?.parts : undefined) ?? 1
  gpu.destroy()
  const has_same_bits = actual.every((x, i) => x === expected[i])
  return { ...size, most_ms: MOST_MS, whole_ms, parts, parts_ms, has_same_bits }
}
