// Measures what decides the time of a small training step on this adapter: its products, its
// dispatches, and the way to the GPU and back.
import type { Program } from '../device/base/dispatch_table.ts'
import type { Tensor } from '../device/base/tensor.ts'
import type { Gpu } from '../device/gpu.ts'
import { matmul_nn, matmul_nt } from '../matmul/matmul.ts'
import { bestRate, peak_copy } from './peak.ts'

export interface AdapterSpeed {
  /** Milliseconds of a dispatch that has next to nothing to do and waits for the one before it. */
  readonly dispatch_ms: number
  /** Milliseconds from a submit to its numbers on the CPU. */
  readonly round_ms: number
  /** Products of the size that small models have, 10⁹ operations per second. */
  readonly gflops: number
  /** Milliseconds to compile the kernel of such a product. */
  readonly compile_ms: number
}

/** A batch of tokens times a weight of a small model. */
const PRODUCT = { m: 512, n: 64, k: 64, accumulate: 0 }
/** In one submit: enough that the submit itself counts little. */
const DISPATCHES = 256
const TRIES = 3
const BUDGET_MS = 150

/** The quickest of a few tries, milliseconds. */
async function quickest(work: () => Promise<unknown>, budgetMs: number): Promise<number> {
  let best = Number.POSITIVE_INFINITY
  const started = performance.now()
  for (let i = 0; i < TRIES; i++) {
    const begun = performance.now()
    await work()
    const ended = performance.now()
    best = Math.min(best, ended - begun)
    if (ended - started > budgetMs) break
  }
  return best
}

/** Replays a program and waits for what it wrote. */
function run(gpu: Gpu, program: Program<never>, written: Tensor): Promise<unknown> {
  gpu.replay(program)
  return gpu.read(written)
}

/** Takes a fraction of a second, and three kernels to compile. Runs alone on the device. A busy
 * machine stops after `budgetMs` with what it has. */
export async function probeSpeed(gpu: Gpu, budgetMs = BUDGET_MS): Promise<AdapterSpeed> {
  const { m, n, k } = PRODUCT
  const sizes = { a: [m, k], b: [n, k], out: [m, n], from: [4], to: [4] }
  const tensors = Object.entries(sizes).map(([name, size]) => gpu.tensor(name, 'f32', size))
  const [a, b, out, from, to] = tensors
  try {
    const product = await gpu.record('speed product', [], (r) =>
      r.run(matmul_nt, PRODUCT, { a, b, out }),
    )
    // The first kernel of a page starts the compiler too, which takes several times as long.
    const begun = performance.now()
    await gpu.record('speed compile', [], (r) => r.run(matmul_nn, PRODUCT, { a, b, out }))
    const compile_ms = performance.now() - begun
    const chain = await gpu.record('speed dispatches', [], (r) => {
      for (let i = 0; i < DISPATCHES; i += 2) {
        r.run(peak_copy, { quads: 1 }, { source: from, copied: to })
        r.run(peak_copy, { quads: 1 }, { source: to, copied: from })
      }
    })
    await gpu.finish()
    const round_ms = await quickest(() => gpu.read(to), budgetMs)
    const chainMs = await quickest(() => run(gpu, chain, to), budgetMs)
    const products = (amount: number) => {
      for (let i = 0; i < amount; i++) gpu.replay(product)
    }
    const rate = await bestRate(gpu, products, { budgetMs })
    // Where a busy machine left no time for a rate, a product has to do, its way there and back
    // with it.
    const productMs = rate > 0 ? 1 / rate : await quickest(() => run(gpu, product, out), budgetMs)
    return {
      dispatch_ms: Math.max(0, chainMs - round_ms) / DISPATCHES,
      round_ms,
      gflops: (2 * m * n * k) / productMs / 1e6,
      compile_ms,
    }
  } finally {
    gpu.free(...tensors)
  }
}
