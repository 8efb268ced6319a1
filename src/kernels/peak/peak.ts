// Measures the most that this adapter reaches: what the profiler and the benchmark compare with.

import { defineKernel, foldGrid } from '../device/base/kernel.ts'
import type { Gpu } from '../device/gpu.ts'
import copy from './peak_copy.wgsl?raw'
import fma from './peak_fma.wgsl?raw'

const WORKGROUP_SIZE = 256
/** Multiply-adds of one invocation of peak_fma in one iteration. */
const FMAS = 64

/** out[i] = the sum of sixteen values, each after 4 · iterations of x ← x · scale + offset.
 * `iterations` may be live. */
export const peak_fma = defineKernel({
  name: 'peak_fma',
  wgsl: fma,
  constants: { WORKGROUP_SIZE },
  params: { invocations: 'u32', iterations: 'u32', scale: 'f32', offset: 'f32' },
  bindings: { out: 'read_write' },
  workgroups: ({ invocations }) => foldGrid(Math.ceil(invocations / WORKGROUP_SIZE)),
  cost: ({ invocations, iterations }) => ({
    flops: 2 * FMAS * iterations * invocations,
    bytes: 4 * invocations,
  }),
})

/** copied = source, both f32 [4 · quads]. */
export const peak_copy = defineKernel({
  name: 'peak_copy',
  wgsl: copy,
  constants: { WORKGROUP_SIZE },
  params: { quads: 'u32' },
  bindings: { source: 'read vec4f', copied: 'read_write vec4f' },
  workgroups: ({ quads }) => foldGrid(Math.ceil(quads / WORKGROUP_SIZE)),
  cost: ({ quads }) => ({ flops: 0, bytes: 2 * 16 * quads }),
})

/** The largest rates of an adapter, in 10⁹ per second. */
export interface Peak {
  /** f32 operations; a multiply-add counts two. */
  readonly gflops: number
  /** Bytes read plus bytes written by a copy that no cache holds. */
  readonly gbps: number
}

/** Enough to keep every core of a large GPU busy several times over. */
const INVOCATIONS = 8192 * WORKGROUP_SIZE
const COPY_BYTES = 64 * 2 ** 20
const SAMPLES = 3
/** One sample lasts about this long: far more than the clock's step, far less than any watchdog
 * allows. */
const SAMPLE_MS = 20
/** A software adapter stops here with what it has. */
const BUDGET_MS = 150

/** Milliseconds of GPU time (of wall time where the adapter has no timestamps) of what `encode`
 * queues. */
const gpuTime = async (gpu: Gpu, encode: () => void): Promise<number> =>
  (await gpu.profile(encode)).profile.time_ms

/** The best rate of `work(amount)`, in units of `amount` per millisecond: amounts grow until one
 * lasts a sample, then the quickest of a few counts. 0 when that took too long. */
export async function bestRate(
  gpu: Gpu,
  work: (amount: number) => void,
  { sampleMs = SAMPLE_MS, budgetMs = BUDGET_MS } = {},
): Promise<number> {
  await gpu.finish()
  const started = performance.now()
  let amount = 1
  let best = 0
  for (let samples = 0; samples < SAMPLES; ) {
    const queuedAt = performance.now()
    const ms = await gpuTime(gpu, () => work(amount))
    const now = performance.now()
    // What is shorter than the clock's step tells nothing yet.
    if (ms > sampleMs / 4) best = Math.max(best, amount / ms)
    if (now - started > budgetMs) break
    if (ms > sampleMs / 2) samples++
    // A clock that does not move must not let the work grow without end.
    else amount = Math.ceil(amount * Math.min(16, sampleMs / Math.max(ms, (now - queuedAt) / 8)))
  }
  return best
}

/** Probes the adapter in less than half a second, with 136 MB of scratch that it frees. Runs alone
 * on the device. */
export async function probePeak(gpu: Gpu): Promise<Peak> {
  const scratch = [
    gpu.tensor('peak.out', 'f32', [INVOCATIONS]),
    gpu.tensor('peak.source', 'f32', [COPY_BYTES / 4]),
    gpu.tensor('peak.copied', 'f32', [COPY_BYTES / 4]),
  ]
  const [out, source, copied] = scratch
  try {
    const fmas = await gpu.record('peak_fma', ['iterations', 'scale'], (r) => {
      const iterations = (live: { iterations: number }) => live.iterations
      const scale = (live: { scale: number }) => live.scale
      r.run(peak_fma, { invocations: INVOCATIONS, iterations, scale, offset: 1 }, { out })
    })
    const copies = await gpu.record('peak_copy', [], (r) =>
      r.run(peak_copy, { quads: COPY_BYTES / 16 }, { source, copied }),
    )
    const iterations = await bestRate(gpu, (amount) =>
      gpu.replay(fmas, { iterations: amount, scale: 0.5 }),
    )
    const rounds = await bestRate(gpu, (amount) => {
      for (let i = 0; i < amount; i++) gpu.replay(copies)
    })
    return {
      gflops: (iterations * INVOCATIONS * FMAS * 2) / 1e6,
      gbps: (rounds * 2 * COPY_BYTES) / 1e6,
    }
  } finally {
    gpu.free(...scratch)
  }
}
