// Lists the matrix products of a run, measures them beside it for the tuner, and checks whether
// experimental ones are right here.
import type { OpenOptions } from '../../kernels/device/adapter.ts'
import { GpuError } from '../../kernels/device/base/errors.ts'
import { Gpu } from '../../kernels/device/gpu.ts'
import {
  type MatmulProgress,
  matmulAgrees,
  measureMatmul,
} from '../../kernels/matmul/matmul_tune.ts'
import {
  chosenVariant,
  type MatmulChoice,
  type MatmulProduct,
  type MatmulVariant,
  shapeClass,
} from '../../kernels/matmul/matmul_variants.ts'
import { type ModelShape, modelShape } from '../../model/layout/config.ts'
import { matmulProducts } from '../../model/transformer/transformer.ts'
import { trainsActor } from '../config/phase.ts'
import type { TrainerConfig } from '../config/trainer_config.ts'
import { phaseRows } from '../learners/base/batch_rows.ts'
import { actorSize, rewardSize, rolloutSizes } from './parts/memory.ts'

/** [out, in] of the products that every token of a response is decoded by. */
const decoded = ({ hidden_size: C, intermediate_size: F, ...shape }: ModelShape) => [
  [shape.qkvSize, C],
  [C, shape.attentionSize],
  [C, F],
  [shape.vocab_size, C],
]

/** One product of every shape class of a run: its passes forward and backward, its probe, and the
 * prefill of its rollouts. */
export function runProducts(config: TrainerConfig): MatmulProduct[] {
  const shape = modelShape(config.model)
  const { prompt_length, response_length, probeRows } = actorSize(config)
  const width = prompt_length + response_length
  const forwardOnly = (tokens: number) =>
    matmulProducts(shape, tokens).filter(({ op }) => op === 'nt' || op === 'nt_add')
  const passes = config.phases
    .filter(trainsActor)
    .flatMap((phase) => matmulProducts(shape, phaseRows(phase, width, config.model).micro * width))
  const reward = rewardSize(config)
  if (reward) passes.push(...matmulProducts(shape, reward.rows * width))
  const prefills = rolloutSizes(config).flatMap(({ rows, n = 1, prompt_length: P }) => [
    ...forwardOnly((rows / n) * P),
    // The first token of every response.
    { op: 'nt', m: rows / n, n: shape.vocab_size, k: shape.hidden_size } as const,
    // Where they sum by subgroups, decode_linear does too.
    ...decoded(shape).map(([n, k]) => ({ op: 'nt', m: rows, n, k }) as const),
  ])
  const products = [...passes, ...forwardOnly(probeRows * width), ...prefills]
  return [...new Map(products.map((p) => [shapeClass(p.op, p), p])).values()]
}

/** Measures the products that `pinned` leaves open, one measurement at each `next`, once the work
 * that `run` has in hand is done. On a device of its own, opened at the first: a kernel that fails
 * there leaves the run's device alone. */
export async function* tuneBeside(
  run: Pick<Gpu, 'finish'>,
  products: readonly MatmulProduct[],
  pinned: MatmulChoice,
  options?: OpenOptions,
): AsyncGenerator<MatmulProgress, void, undefined> {
  const gpu = await Gpu.open(options)
  try {
    const measuring = measureMatmul(gpu, products, { pinned })
    for (;;) {
      await run.finish()
      const { done, value } = await measuring.next()
      if (done) return
      yield value
    }
  } finally {
    gpu.destroy()
  }
}

/** Runs the smallest product of each kind that the configuration gives to matrix units, and
 * compares it with the default kernel's. Throws GpuError shader where one differs by more than its
 * factors' rounding explains, with what to do. */
export async function checkMatrices(
  gpu: Gpu,
  config: TrainerConfig,
  variantOf: typeof chosenVariant = chosenVariant,
): Promise<void> {
  const smallest = new Map<string, readonly [MatmulProduct, MatmulVariant]>()
  for (const product of config.matmul ? runProducts(config) : []) {
    const variant = variantOf(config.matmul, product.op, product)
    if (variant.rounding === undefined) continue
    const kind = `${product.op} ${variant.name}`
    const [known] = smallest.get(kind) ?? []
    if (!known || work(product) < work(known)) smallest.set(kind, [product, variant])
  }
  for (const [product, variant] of smallest.values())
    if (!(await matmulAgrees(gpu, product, variant)))
      throw new GpuError(
        'shader',
        `kernels: ${variant.name} gives other products here than the default kernel, by more than rounding. Take it out of the pinned kernels.`,
      )
}

const work = ({ m, n, k }: MatmulProduct) => m * n * k
