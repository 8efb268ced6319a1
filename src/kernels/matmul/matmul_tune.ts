// Measures the variants of a matrix product on this adapter.

import type { Tensor } from '../device/base/tensor.ts'
import type { Gpu } from '../device/gpu.ts'
import { gpuVariants } from './gpu_variants.ts'
import {
  defaultVariant,
  MATMUL_VARIANTS,
  type MatmulChoice,
  type MatmulKernel,
  type MatmulProduct,
  type MatmulSize,
  type MatmulVariant,
  matmulVariant,
  shapeClass,
} from './matmul_variants.ts'

/** What the tuner saw of one variant. */
export interface MatmulTiming extends MatmulProduct {
  readonly shape_class: string
  readonly variant: string
  /** Milliseconds of one product, the better of the samples. */
  readonly ms: number
  /** True for a variant that was faster, but whose result was not the default's within rounding. */
  readonly is_wrong: boolean
}

export interface MatmulTuning {
  /** Every class that was measured or pinned. */
  readonly choice: MatmulChoice
  readonly timings: readonly MatmulTiming[]
}

export interface TuneOptions {
  /** No measurement starts after this many milliseconds. One that has started is finished,
   * compilation included. */
  readonly budgetMs?: number
  /** Classes that are settled and not measured. */
  readonly pinned?: MatmulChoice
  /** What may be chosen besides the default; else what suits the adapter: on a GPU gpuVariants. */
  readonly variants?: readonly MatmulVariant[] | undefined
  /** How long a sample lasts at least. */
  readonly sampleMs?: number
}

export interface MeasureOptions extends Omit<TuneOptions, 'budgetMs'> {
  /** Asked before each measurement: true ends it. */
  readonly isOver?: () => boolean
}

/** What is known after a measurement. */
export interface MatmulProgress extends MatmulTuning {
  /** Measurements that were made, and those that there are in all. */
  readonly done: number
  readonly of: number
}

/** Another variant must be faster than the default by this factor. */
const GAIN = 1.05
/** One sample lasts about so long unless told otherwise: the wait at its end weighs little. */
const SAMPLE_MS = 4
const MAX_REPEATS = 256
const SAMPLES = 2

/** A product's operands on the device. */
interface Bench {
  readonly product: MatmulProduct
  readonly tensors: Readonly<Record<'a' | 'b' | 'addend' | 'out', Tensor<'f32'>>>
}

/** Picks the fastest variant for each class of `shapes`, largest product first, by running them.
 * The default stays unless another is at least 5 % faster and gives the same result within float32
 * rounding. What the budget leaves unmeasured has no entry, so the default rule holds there. Leaves
 * no tensor behind; compiled pipelines stay. Throws RangeError for a pinned name that no variant
 * has. */
export async function tuneMatmul(
  gpu: Gpu,
  shapes: readonly MatmulProduct[],
  { budgetMs = 800, ...options }: TuneOptions = {},
): Promise<MatmulTuning> {
  const deadline = performance.now() + budgetMs
  const isOver = () => performance.now() >= deadline
  let choice = options.pinned ?? {}
  let timings: readonly MatmulTiming[] = []
  for await (const measured of measureMatmul(gpu, shapes, { ...options, isOver }))
    ({ choice, timings } = measured)
  return { choice, timings }
}

/** The same, one measurement at each `next`, for a caller with other work in between: a class has
 * its variant in `choice` once all of its candidates are measured, or as many as there were when
 * `isOver` said so. A caller that ends it early drops the class that is under way. */
export async function* measureMatmul(
  gpu: Gpu,
  shapes: readonly MatmulProduct[],
  { pinned = {}, variants, sampleMs = SAMPLE_MS, isOver = () => false }: MeasureOptions = {},
): AsyncGenerator<MatmulProgress, void, undefined> {
  for (const [shape_class, name] of Object.entries(pinned)) matmulVariant(name, shape_class)
  const work = ({ m, n, k }: MatmulSize) => m * n * k
  const openClasses: { shape_class: string; product: MatmulProduct; tried: MatmulVariant[] }[] = []
  for (const product of [...shapes].sort((p, q) => work(q) - work(p))) {
    const shape_class = shapeClass(product.op, product)
    if (shape_class in pinned || openClasses.some((c) => c.shape_class === shape_class)) continue
    const fallback = defaultVariant(product.op, product)
    const tried = [fallback, ...candidates(gpu, product, variants)]
    openClasses.push({ shape_class, product, tried })
  }
  const of = openClasses.reduce((sum, { tried }) => sum + tried.length, 0)
  let [choice, timings, done]: [MatmulChoice, readonly MatmulTiming[], number] = [pinned, [], 0]
  for (const { shape_class, product, tried } of openClasses) {
    if (isOver()) return
    const bench = open(gpu, product)
    try {
      const measured: Measured[] = []
      for (const [i, variant] of tried.entries()) {
        if (i > 0 && isOver()) break
        const repeats = measured[0]?.repeats
        measured.push({ variant, ...(await measure(gpu, bench, variant, { sampleMs, repeats })) })
        done++
        if (i < tried.length - 1) yield { choice, timings, done, of }
      }
      const { variant, seen } = await quickest(gpu, bench, measured)
      choice = { ...choice, [shape_class]: variant }
      timings = [...timings, ...seen.map((timing) => ({ ...product, shape_class, ...timing }))]
      yield { choice, timings, done, of }
    } finally {
      gpu.free(...Object.values(bench.tensors))
    }
  }
}

type Seen = Pick<MatmulTiming, 'variant' | 'ms' | 'is_wrong'>

interface Measured {
  readonly variant: MatmulVariant
  readonly ms: number
  readonly repeats: number
}

/** The quickest of those that agree with the first one, which is the default. */
async function quickest(
  gpu: Gpu,
  bench: Bench,
  measured: readonly Measured[],
): Promise<{ variant: string; seen: Seen[] }> {
  const [run, ...others] = measured
  const faster = others.filter(({ ms }) => ms * GAIN <= run.ms)
  faster.sort((p, q) => p.ms - q.ms)
  const wrong = new Set<string>()
  let best = run.variant
  for (const { variant } of faster) {
    if (await agree(gpu, bench, run.variant, variant)) {
      best = variant
      break
    }
    wrong.add(variant.name)
  }
  const seen = measured.map(({ variant: { name }, ms }) => ({
    variant: name,
    ms,
    is_wrong: wrong.has(name),
  }))
  return { variant: best.name, seen }
}

/** The variants worth a measurement besides the default. */
function candidates(
  gpu: Gpu,
  product: MatmulProduct,
  variants: readonly MatmulVariant[] | undefined,
): MatmulVariant[] {
  const { is_software, vendor } = gpu.facts
  const fallback = defaultVariant(product.op, product)
  const suited = is_software
    ? MATMUL_VARIANTS
    : gpuVariants(product.op, product, vendor).map((name) => matmulVariant(name))
  return (variants ?? suited).filter(
    (variant) =>
      variant !== fallback &&
      variant.supports(product.op, product) &&
      (variant.suitsSoftware || !is_software) &&
      hasFeatures(gpu, variant),
  )
}

/** Whether the kernels of a variant compile on this device. */
export const hasFeatures = ({ facts }: Gpu, { requires }: MatmulVariant): boolean =>
  requires.every((feature) => {
    if (feature === 'subgroups') return facts.has_subgroups
    if (feature === 'shader-f16') return facts.has_f16
    return facts.features.includes(feature)
  })

/** Numbers in [-1, 1) that look random, so that the partial sums of a product stay small.
 * (murmur3's finalizer) */
function values(count: number, seed: number): Float32Array {
  const out = new Float32Array(count)
  for (let i = 0; i < count; i++) {
    let h = i + Math.imul(seed, 0x9e3779b1)
    h = Math.imul(h ^ (h >>> 16), 0x85ebca6b)
    h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
    out[i] = ((h ^ (h >>> 16)) >> 8) / 2 ** 23
  }
  return out
}

function open(gpu: Gpu, product: MatmulProduct): Bench {
  const { m, n, k } = product
  const filled = (label: string, rows: number, cols: number, seed: number) =>
    gpu.tensor(`tune ${label}`, 'f32', [rows, cols], { data: values(rows * cols, seed) })
  const tensors = {
    a: filled('a', m, k, 1),
    b: filled('b', n, k, 2),
    addend: filled('addend', 1, n, 3),
    out: gpu.tensor('tune out', 'f32', [m, n]),
  }
  return { product, tensors }
}

const recordProduct = (gpu: Gpu, { product, tensors }: Bench, variant: MatmulVariant) =>
  gpu.record(`tune ${variant.name}`, [], ({ run }) => {
    const { op, m, n, k } = product
    const { a, b, addend, out } = tensors
    if (op === 'nt_add')
      run(variant.kernel(op), { m, n, k, addend_stride: 0 }, { a, b, addend, out })
    else run(variant.kernel(op) as MatmulKernel<'nn'>, { m, n, k, accumulate: 0 }, { a, b, out })
  })

/** The better of a few samples of `repeats` products; without `repeats` as many as fill a
 * sample. */
async function measure(
  gpu: Gpu,
  bench: Bench,
  variant: MatmulVariant,
  { sampleMs, repeats }: { sampleMs: number; repeats: number | undefined },
): Promise<{ ms: number; repeats: number }> {
  const program = await recordProduct(gpu, bench, variant)
  const sample = async (count: number) => {
    const start = performance.now()
    for (let i = 0; i < count; i++) gpu.replay(program)
    await gpu.finish()
    return performance.now() - start
  }
  await sample(1) // what compiles or moves at the first use
  let count = repeats ?? 1
  let total = await sample(count)
  while (repeats === undefined && total < sampleMs && count < MAX_REPEATS) {
    count *= 4
    total = await sample(count)
  }
  let ms = total / count
  for (let i = 1; i < SAMPLES && total < 50 * sampleMs; i++)
    ms = Math.min(ms, (await sample(count)) / count)
  return { ms, repeats: count }
}

/** Whether a variant gives the default's product within float32 rounding on this adapter: what each
 * must before it may be chosen, however fast. Leaves no tensor behind. */
export async function matmulAgrees(
  gpu: Gpu,
  product: MatmulProduct,
  variant: MatmulVariant,
): Promise<boolean> {
  const bench = open(gpu, product)
  try {
    return await agree(gpu, bench, defaultVariant(product.op, product), variant)
  } finally {
    gpu.free(...Object.values(bench.tensors))
  }
}

/** Whether two variants give the same product within float32 rounding. */
async function agree(
  gpu: Gpu,
  bench: Bench,
  expected: MatmulVariant,
  actual: MatmulVariant,
): Promise<boolean> {
  const results = []
  for (const variant of [expected, actual]) {
    gpu.clear(bench.tensors.out)
    gpu.replay(await recordProduct(gpu, bench, variant))
    results.push((await gpu.read(bench.tensors.out))[0])
  }
  const [left, right] = results
  // k roundings of partial sums of about sqrt(k) / 3, on either side; and those of both factors in
  // terms of 1/4 on average.
  const { k } = bench.product
  const rounded = Math.max(expected.rounding ?? 0, actual.rounding ?? 0)
  const allowed = 2e-7 * k + 2e-6 + 2 * rounded * (k / 3)
  return left.every((x, i) => Math.abs(x - right[i]) <= allowed + 1e-5 * Math.abs(x))
}
