// Measures what a step costs the thread that runs it, apart from waiting for the GPU.

import type { Tensor } from '../../src/kernels/device/base/tensor.ts'
import type { Gpu } from '../../src/kernels/device/gpu.ts'

/** Everything of Gpu that works before it returns; `read` works until it waits. */
const CALLS = ['replay', 'write', 'copy', 'clear', 'submit', 'read'] as const

/** Milliseconds inside calls of this Gpu since `watch`. A call inside another call of the Gpu is
 * not counted again. */
export interface Stopwatch {
  ms: number
}

/** Times every call of `gpu` from now on. */
export function watchCalls(gpu: Gpu): Stopwatch {
  const watch = { ms: 0 }
  let isInside = false
  const timed = <A extends unknown[], R>(call: (...args: A) => R) => {
    return (...args: A): R => {
      if (isInside) return call(...args)
      isInside = true
      const start = performance.now()
      try {
        return call(...args)
      } finally {
        watch.ms += performance.now() - start
        isInside = false
      }
    }
  }
  for (const name of CALLS)
    Object.assign(gpu, { [name]: timed((gpu[name] as (...args: unknown[]) => unknown).bind(gpu)) })
  return watch
}

/** Runs `work` without GPU work: command buffers are encoded and thrown away, readbacks give zeros.
 * So the threads of a software adapter do not take cores from the thread that is measured. */
export async function withoutGpu<T>(gpu: Gpu, work: () => Promise<T>): Promise<T> {
  const { submit } = GPUQueue.prototype
  const read = gpu.read.bind(gpu)
  GPUQueue.prototype.submit = () => undefined
  const readZeros = async (...tensors: Tensor[]) => {
    const arrays = await read(...tensors)
    for (const array of arrays) array.fill(0) // a readback buffer without a copy still holds older values
    return arrays
  }
  Object.assign(gpu, { read: readZeros })
  try {
    return await work()
  } finally {
    GPUQueue.prototype.submit = submit
    Object.assign(gpu, { read })
  }
}

/** CPU seconds of the page's thread since its start, where the driver (scripts/bench.mjs) provides
 * them. */
export async function threadSeconds(): Promise<number | undefined> {
  const { benchThreadSeconds } = globalThis as { benchThreadSeconds?: () => Promise<number> }
  return benchThreadSeconds?.()
}

/** Milliseconds that V8's sampling profiler found the page's thread inside JavaScript, and inside
 * its garbage collector. */
export interface SampledJavaScript {
  readonly script: number
  readonly garbage: number
}

/** Samples the thread while `work` runs; undefined where the driver does not provide it. */
export async function sampled(work: () => Promise<void>): Promise<SampledJavaScript | undefined> {
  const driver = globalThis as {
    benchStartSampling?: () => Promise<void>
    benchStopSampling?: () => Promise<SampledJavaScript>
  }
  await driver.benchStartSampling?.()
  await work()
  return driver.benchStopSampling?.()
}
