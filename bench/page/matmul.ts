// Square matrix products of ours, jax-js and TensorFlow.js on the same adapter, timed in the same way.
import {
  defaultDevice,
  getWebGPUDevice,
  init,
  type Array as JaxArray,
  jit,
  numpy,
} from '@jax-js/jax'
import '@tensorflow/tfjs-backend-webgpu'
import { backend, matMul, setBackend, tensor2d, ready as tfReady } from '@tensorflow/tfjs-core'
import { Gpu } from '../../src/kernels/gpu.ts'
import { matmul_nn } from '../../src/kernels/matmul/matmul.ts'
import { median } from './median.ts'

/** One timed sample lasts about this long, so that the wait at its end weighs little. */
const SAMPLE_MS = 60
const MAX_REPEATS = 256
const SAMPLES = 5
/** Entries of the product that are checked against float64. */
const CHECKED = 64

interface Peer {
  /** Queues `repeats` products and resolves when the GPU has finished all of them. */
  readonly time: (repeats: number) => Promise<void>
  readonly result: () => Promise<ArrayLike<number>>
  readonly free: () => void
}

export interface MatmulRow {
  /** The product is [n, n] × [n, n]. */
  readonly n: number
  /** Median milliseconds of one product, per library. */
  readonly ms: Readonly<Record<string, number>>
  /** Largest |error| against float64, divided by the largest |entry|. */
  readonly error: Readonly<Record<string, number>>
}

/** Seeded values in [-1, 1), so that every run multiplies the same matrices. (mulberry32) */
function values(count: number, seed: number): Float32Array<ArrayBuffer> {
  let state = seed
  return Float32Array.from({ length: count }, () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 31 - 1
  })
}

async function ours(gpu: Gpu, n: number, a: Float32Array, b: Float32Array): Promise<Peer> {
  const shape = [n, n]
  const tensors = {
    a: gpu.tensor('a', 'f32', shape, { data: a }),
    b: gpu.tensor('b', 'f32', shape, { data: b }),
    out: gpu.tensor('out', 'f32', shape),
  }
  const params = { m: n, n, k: n, accumulate: 0 }
  const program = await gpu.record('bench', [], (r) => r.run(matmul_nn, params, tensors))
  return {
    time: async (repeats) => {
      for (let i = 0; i < repeats; i++) gpu.replay(program)
      await gpu.finish()
    },
    result: async () => (await gpu.read(tensors.out))[0],
    free: () => gpu.free(tensors.a, tensors.b, tensors.out),
  }
}

async function jax(n: number, a: Float32Array, b: Float32Array): Promise<Peer> {
  const left = numpy.array(a as Float32Array<ArrayBuffer>, { shape: [n, n] })
  const right = numpy.array(b as Float32Array<ArrayBuffer>, { shape: [n, n] })
  const product = jit((x: JaxArray, y: JaxArray) => numpy.matmul(x, y))
  // A function takes over the references it is given; `ref` makes one more.
  const once = () => product(left.ref, right.ref)
  return {
    time: async (repeats) => {
      let last = once()
      for (let i = 1; i < repeats; i++) {
        last.dispose()
        last = once()
      }
      await last.blockUntilReady()
      await getWebGPUDevice().queue.onSubmittedWorkDone()
      last.dispose()
    },
    result: async () => (await once().data()) as Float32Array,
    free: () => {
      left.dispose()
      right.dispose()
    },
  }
}

interface TfBackend {
  readonly device: GPUDevice
  endComputePassEncoder(): void
  submitQueue(): void
}

async function tensorflow(n: number, a: Float32Array, b: Float32Array): Promise<Peer> {
  const left = tensor2d(a, [n, n])
  const right = tensor2d(b, [n, n])
  const webgpu = backend() as unknown as TfBackend
  return {
    time: async (repeats) => {
      for (let i = 0; i < repeats; i++) matMul(left, right).dispose()
      // It collects commands and submits them in batches; this sends the rest.
      webgpu.endComputePassEncoder()
      webgpu.submitQueue()
      await webgpu.device.queue.onSubmittedWorkDone()
    },
    result: async () => {
      const product = matMul(left, right)
      const data = await product.data()
      product.dispose()
      return data
    },
    free: () => {
      left.dispose()
      right.dispose()
    },
  }
}

/** Largest |error| of a few entries against a float64 sum, relative to the largest of them. */
function errorOf(result: ArrayLike<number>, n: number, a: Float32Array, b: Float32Array): number {
  let error = 0
  let largest = 0
  for (let check = 0; check < CHECKED; check++) {
    const at = Math.floor(((check + 0.5) * n * n) / CHECKED) + check
    const [row, col] = [Math.floor(at / n), at % n]
    let sum = 0
    for (let k = 0; k < n; k++) sum += a[row * n + k] * b[k * n + col]
    error = Math.max(error, Math.abs(result[at] - sum))
    largest = Math.max(largest, Math.abs(sum))
  }
  return result.length === n * n ? error / largest : Number.NaN
}

async function milliseconds(peer: Peer, repeats: number): Promise<number> {
  const start = performance.now()
  await peer.time(repeats)
  return (performance.now() - start) / repeats
}

/** Opens all three libraries once. */
export async function openPeers(): Promise<Gpu> {
  const gpu = await Gpu.open()
  await init('webgpu')
  defaultDevice('webgpu')
  await setBackend('webgpu')
  await tfReady()
  return gpu
}

/** One size: warm-up, then samples of the three in turn, so that what else the machine does hits all alike. */
export async function benchMatmul(gpu: Gpu, n: number): Promise<MatmulRow> {
  const a = values(n * n, 1)
  const b = values(n * n, 2)
  const peers: Record<string, Peer> = {
    understory: await ours(gpu, n, a, b),
    'jax-js': await jax(n, a, b),
    'tfjs-webgpu': await tensorflow(n, a, b),
  }
  const repeats: Record<string, number> = {}
  const samples: Record<string, number[]> = {}
  for (const [name, peer] of Object.entries(peers)) {
    await peer.time(1)
    const ms = await milliseconds(peer, 1)
    repeats[name] = Math.min(MAX_REPEATS, Math.max(1, Math.ceil(SAMPLE_MS / ms)))
    samples[name] = []
  }
  for (let i = 0; i < SAMPLES; i++)
    for (const [name, peer] of Object.entries(peers))
      samples[name].push(await milliseconds(peer, repeats[name]))
  const ms: Record<string, number> = {}
  const error: Record<string, number> = {}
  for (const [name, peer] of Object.entries(peers)) {
    ms[name] = median(samples[name])
    error[name] = errorOf(await peer.result(), n, a, b)
    peer.free()
  }
  return { n, ms, error }
}
