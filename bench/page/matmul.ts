// Times matrix products of ours, jax-js and TensorFlow.js on the same adapter in the same way:
// squares, and the three products of every linear layer of a model. y = x Wᵀ is NT, d_x = d_y W is
// NN, d_W = d_yᵀ x is TN.
import { getWebGPUDevice, type Array as JaxArray, jit, numpy } from '@jax-js/jax'
import { matMul, tensor2d } from '@tensorflow/tfjs-core'
import { trainerConfig } from '../../src/document/experiment/trainer_config.ts'
import { presetOf } from '../../src/document/presets/presets.ts'
import type { Gpu } from '../../src/kernels/device/gpu.ts'
import { gpuChoice } from '../../src/kernels/matmul/gpu_variants.ts'
import { matmulKernel } from '../../src/kernels/matmul/matmul_variants.ts'
import { type ModelConfig, modelShape } from '../../src/model/layout/config.ts'
import { trainsActor } from '../../src/rl/config/phase.ts'
import { phaseRows } from '../../src/rl/learners/base/batch_rows.ts'
import { finishTf } from '../peers/tfjs.ts'
import { median } from './median.ts'
import { openPeers } from './open.ts'
import { progress } from './progress.ts'
import { seededValues } from './values.ts'

/** One timed sample lasts about this long, so that the wait at its end weighs little. */
const SAMPLE_MS = 60
const MAX_REPEATS = 256
/** Samples per library; this many for a product that takes a library a second or longer. */
const SAMPLES = { quick: 5, slow: 2 }
const SLOW_MS = 1000
/** Entries of the product that are checked against float64. */
const CHECKED = 64
const SQUARES = [256, 512, 1024]

/** out [m, n] = a · b, summed over k. nn: a [m, k], b [k, n]. nt: b [n, k]. tn: a [k, m], b [k,
 * n]. */
export interface MatmulShape {
  /** Where the shape comes from: 'square', or a model and its linear layer. */
  readonly of: string
  readonly op: 'nn' | 'nt' | 'tn'
  readonly m: number
  readonly n: number
  readonly k: number
}

export interface MatmulRow extends MatmulShape {
  /** Median milliseconds of one product, per library. */
  readonly ms: Readonly<Record<string, number>>
  /** Largest |error| against float64, divided by the largest |entry|. */
  readonly error: Readonly<Record<string, number>>
}

interface Peer {
  /** Queues `repeats` products and resolves when the GPU has finished all of them. */
  readonly time: (repeats: number) => Promise<void>
  readonly result: () => Promise<ArrayLike<number>>
  readonly free: () => void
}

interface Factors {
  readonly a: Float32Array<ArrayBuffer>
  readonly b: Float32Array<ArrayBuffer>
  readonly aShape: [number, number]
  readonly bShape: [number, number]
}

/** The three products of every linear layer of a model on a number of tokens. */
export function layerShapes(name: string, tokens: number, config: ModelConfig): MatmulShape[] {
  const { hidden_size: C, intermediate_size: F, qkvSize, attentionSize } = modelShape(config)
  const layers = [
    { layer: 'qkv', out: qkvSize, size_in: C },
    { layer: 'o', out: C, size_in: attentionSize },
    { layer: 'gate_up', out: 2 * F, size_in: C },
    { layer: 'down', out: C, size_in: F },
  ]
  return layers.flatMap(({ layer, out, size_in }): MatmulShape[] => {
    const of = `${name} ${layer}`
    return [
      { of, op: 'nt', m: tokens, n: out, k: size_in },
      { of, op: 'nn', m: tokens, n: size_in, k: out },
      { of, op: 'tn', m: out, n: size_in, k: tokens },
    ]
  })
}

/** Squares, the linear layers of a preset on a micro-batch of its first phase, and those of a 135M
 * model on 512 tokens. */
export function matmulShapes(presetId: string): MatmulShape[] {
  const preset = presetOf(presetId)
  if (!preset) throw new RangeError(`no preset ${presetId}`)
  const { model, phases, task } = trainerConfig(preset.experiment)
  const width = task.max_prompt_length + task.max_response_length
  const tokens = phaseRows(phases.filter(trainsActor)[0], width, model).micro * width
  // SmolLM2-135M's sizes.
  const large: ModelConfig = {
    ...model,
    hidden_size: 576,
    intermediate_size: 1536,
    num_attention_heads: 9,
    num_key_value_heads: 3,
    head_dim: 64,
  }
  return [
    ...SQUARES.map((n): MatmulShape => ({ of: 'square', op: 'nn', m: n, n, k: n })),
    ...layerShapes(presetId, tokens, model),
    ...layerShapes('135M', 512, large),
  ]
}

function factorsOf({ op, m, n, k }: MatmulShape): Factors {
  return {
    a: seededValues(m * k, 1),
    b: seededValues(n * k, 2),
    aShape: op === 'tn' ? [k, m] : [m, k],
    bShape: op === 'nt' ? [n, k] : [k, n],
  }
}

/** The kernel that a run begins with for this shape on this adapter. */
const kernelOf = ({ facts }: Gpu, shape: MatmulShape) =>
  matmulKernel(gpuChoice([shape], facts), shape.op, shape)

async function ours(gpu: Gpu, shape: MatmulShape, factors: Factors): Promise<Peer> {
  const { m, n, k } = shape
  const tensors = {
    a: gpu.tensor('a', 'f32', factors.aShape, { data: factors.a }),
    b: gpu.tensor('b', 'f32', factors.bShape, { data: factors.b }),
    out: gpu.tensor('out', 'f32', [m, n]),
  }
  const params = { m, n, k, accumulate: 0 }
  const program = await gpu.record('bench', [], (r) => r.run(kernelOf(gpu, shape), params, tensors))
  return {
    time: async (repeats) => {
      for (let i = 0; i < repeats; i++) gpu.replay(program)
      await gpu.finish()
    },
    result: async () => (await gpu.read(tensors.out))[0],
    free: () => gpu.free(tensors.a, tensors.b, tensors.out),
  }
}

function jax({ op }: MatmulShape, factors: Factors): Peer {
  const left = numpy.array(factors.a, { shape: factors.aShape })
  const right = numpy.array(factors.b, { shape: factors.bShape })
  const subscripts = { nn: 'mk,kn->mn', nt: 'mk,nk->mn', tn: 'km,kn->mn' }[op]
  // A transposed factor is a view that the compiled product reads directly.
  const product = jit((x: JaxArray, y: JaxArray) => numpy.einsum(subscripts, x, y))
  // A function takes over the references it is given; `ref` makes one more.
  const once = () => product(left.ref, right.ref)
  return {
    time: async (repeats) => {
      // A product that is freed before it was submitted is never computed.
      const products = Array.from({ length: repeats }, once)
      for (const one of products) await one.blockUntilReady()
      await getWebGPUDevice().queue.onSubmittedWorkDone()
      for (const one of products) one.dispose()
    },
    result: async () => (await once().data()) as Float32Array,
    free: () => {
      left.dispose()
      right.dispose()
      product.dispose()
    },
  }
}

function tensorflow({ op }: MatmulShape, factors: Factors): Peer {
  const left = tensor2d(factors.a, factors.aShape)
  const right = tensor2d(factors.b, factors.bShape)
  const once = () => matMul(left, right, op === 'tn', op === 'nt')
  return {
    time: async (repeats) => {
      for (let i = 0; i < repeats; i++) once().dispose()
      await finishTf()
    },
    result: async () => {
      const product = once()
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
function errorOf(result: ArrayLike<number>, shape: MatmulShape, { a, b }: Factors): number {
  const { op, m, n, k } = shape
  let error = 0
  let largest = 0
  for (let check = 0; check < CHECKED; check++) {
    const at = (Math.floor(((check + 0.5) * m * n) / CHECKED) + check) % (m * n)
    const [row, col] = [Math.floor(at / n), at % n]
    let sum = 0
    for (let p = 0; p < k; p++)
      sum += a[op === 'tn' ? p * m + row : row * k + p] * b[op === 'nt' ? col * k + p : p * n + col]
    error = Math.max(error, Math.abs(result[at] - sum))
    largest = Math.max(largest, Math.abs(sum))
  }
  return result.length === m * n ? error / largest : Number.NaN
}

async function milliseconds(peer: Peer, repeats: number): Promise<number> {
  const start = performance.now()
  await peer.time(repeats)
  return (performance.now() - start) / repeats
}

/** One shape: warm-up, then samples of the three libraries in turn, so that other load on the
 * machine affects all alike. */
async function benchShape(gpu: Gpu, shape: MatmulShape): Promise<MatmulRow> {
  const factors = factorsOf(shape)
  const peers: Record<string, Peer> = {
    understory: await ours(gpu, shape, factors),
    'jax-js': jax(shape, factors),
    'tfjs-webgpu': tensorflow(shape, factors),
  }
  const repeats: Record<string, number> = {}
  const samples: Record<string, number[]> = {}
  let count = SAMPLES.quick
  for (const [name, peer] of Object.entries(peers)) {
    await peer.time(1)
    const ms = await milliseconds(peer, 1)
    if (ms > SLOW_MS) count = SAMPLES.slow
    repeats[name] = Math.min(MAX_REPEATS, Math.max(1, Math.ceil(SAMPLE_MS / ms)))
    samples[name] = []
  }
  for (let i = 0; i < count; i++)
    for (const [name, peer] of Object.entries(peers))
      samples[name].push(await milliseconds(peer, repeats[name]))
  const ms: Record<string, number> = {}
  const error: Record<string, number> = {}
  for (const [name, peer] of Object.entries(peers)) {
    ms[name] = median(samples[name])
    error[name] = errorOf(await peer.result(), shape, factors)
    peer.free()
  }
  return { ...shape, ms, error }
}

export async function benchMatmul(shapes: readonly MatmulShape[]): Promise<MatmulRow[]> {
  const gpu = await openPeers()
  const rows: MatmulRow[] = []
  for (const shape of shapes) {
    progress(`${shape.of} ${shape.op}, ${rows.length + 1} of ${shapes.length}`)
    rows.push(await benchShape(gpu, shape))
  }
  gpu.destroy()
  return rows
}
