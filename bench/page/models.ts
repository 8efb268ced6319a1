// Times models of the sizes that people open, with random weights: uploading them, decoding, a
// training step of the whole model and of a LoRA adapter on a frozen bfloat16 one, and the memory
// that was planned beside the memory that was taken. A smaller batch on a CPU.
import type { AdapterFacts } from '../../src/kernels/device/adapter.ts'
import { Gpu } from '../../src/kernels/device/gpu.ts'
import { gpuChoice } from '../../src/kernels/matmul/gpu_variants.ts'
import { matmulVariant, shapeClass } from '../../src/kernels/matmul/matmul_variants.ts'
import { normalValues } from '../../src/kernels/sampling/philox.ts'
import { type ModelConfig, modelShape } from '../../src/model/layout/config.ts'
import { paramLayout } from '../../src/model/layout/params.ts'
import { writeParams } from '../../src/model/params/param_copies.ts'
import { createModel } from '../../src/model/transformer/model.ts'
import type { TrainerConfig } from '../../src/rl/config/trainer_config.ts'
import { planMemory } from '../../src/rl/train/parts/memory.ts'
import { grpo, LORA, SHAPES } from '../../src/rl/train/real/testing.ts'
import { suited } from '../../src/rl/train/suited.ts'
import { Trainer } from '../../src/rl/train/trainer.ts'
import { runProducts } from '../../src/rl/train/tuning.ts'
import { median } from './median.ts'

const ON_GPU = { prompts: 8, n: 8, prompt: 64, response: 64 }
const ON_CPU = { prompts: 2, n: 2, prompt: 8, response: 8 }
/** The first measures the untrained model. */
const WARM_UP = 2
const STEPS = 3
/** Values that are uploaded at a time, and bytes of each. */
const PIECE = 2 ** 22

type ModelName = '15m' | '135m' | '0.6b'

/** One way to train a model. */
interface TrainedRow {
  /** Weights that are trained. */
  readonly how: 'full' | 'lora' | 'lora in halves'
  /** Median milliseconds. */
  readonly ms: { readonly step: number; readonly rollout: number }
  /** Of the rollout. */
  readonly tokens_per_second: number
  readonly planned_bytes: number
  readonly counted_bytes: number
}

export interface ModelRow {
  readonly model: ModelName
  readonly num_parameters: number
  readonly size: typeof ON_GPU
  readonly is_software: boolean
  /** Megabytes of float32 in memory that a second puts into buffers, as float32 and as bfloat16. */
  readonly load_mb_per_second: { readonly float32: number; readonly bfloat16: number }
  readonly trained: readonly TrainedRow[]
}

/** The largest is for hardware. */
export async function modelNames(): Promise<readonly ModelName[]> {
  const { is_software } = await adapterFacts()
  return ['15m', '135m', ...(is_software ? [] : (['0.6b'] as const))]
}

export async function benchModels(model: ModelName): Promise<ModelRow> {
  const shape = SHAPES[model]
  const facts = await adapterFacts()
  const size = facts.is_software ? ON_CPU : ON_GPU
  const adapted: ModelConfig = { ...shape, dtype: 'bfloat16', lora: LORA }
  return {
    model,
    num_parameters: paramLayout(modelShape(shape)).num_parameters,
    size,
    is_software: facts.is_software,
    load_mb_per_second: {
      float32: await loaded(shape),
      bfloat16: await loaded({ ...shape, dtype: 'bfloat16' }),
    },
    trained: [
      // All of the largest would take 10 GB for its weights, gradients and moments.
      ...(model === '0.6b' ? [] : [await trained('full', grpo(shape, size), size)]),
      await trained('lora', grpo(adapted, size), size),
      ...(facts.features.includes('subgroup-matrix-f16')
        ? [await trained('lora in halves', inHalves(grpo(adapted, size), facts), size)]
        : []),
    ],
  }
}

/** The configuration with every product of a frozen weight in matrix units, and the others as a run
 * begins on them. */
function inHalves(config: TrainerConfig, facts: AdapterFacts): TrainerConfig {
  const units = matmulVariant('matrices_f16')
  const products = runProducts(config)
  const halved = products.filter((product) => units.supports(product.op, product))
  const named = halved.map((product) => [shapeClass(product.op, product), units.name])
  return { ...config, matmul: { ...gpuChoice(products, facts), ...Object.fromEntries(named) } }
}

async function adapterFacts() {
  const gpu = await Gpu.open()
  const { facts } = gpu
  gpu.destroy()
  return facts
}

/** Megabytes a second: the same piece of random values into every place of a model that nothing
 * trains. */
async function loaded(config: ModelConfig): Promise<number> {
  const gpu = await Gpu.open()
  const layout = paramLayout(modelShape(config))
  const { weights } = createModel(gpu, layout)
  const values = normalValues(PIECE, 0.02, [1, 1], 0)
  await gpu.finish()
  const start = performance.now()
  for (let at = 0; at < layout.size; at += PIECE) {
    writeParams(gpu, weights.buffers, values.subarray(0, Math.min(PIECE, layout.size - at)), at)
    await gpu.finish()
  }
  const seconds = (performance.now() - start) / 1000
  gpu.destroy()
  return (4 * layout.size) / 1e6 / seconds
}

async function trained(
  how: TrainedRow['how'],
  config: TrainerConfig,
  { prompts, n, response }: typeof ON_GPU,
): Promise<TrainedRow> {
  const gpu = await Gpu.open()
  // An open device holds room for the numbers of its kernels.
  const held = gpu.counts.live_bytes
  const trainer = await Trainer.create(gpu, suited(gpu, config))
  const step: number[] = []
  const rollout: number[] = []
  for (let i = 0; i < WARM_UP + STEPS; i++) {
    const start = performance.now()
    const { metrics } = await trainer.next()
    await gpu.finish()
    if (i < WARM_UP) continue
    step.push(performance.now() - start)
    rollout.push(metrics['timing_s/gen'] * 1000)
  }
  const row = {
    how,
    ms: { step: median(step), rollout: median(rollout) },
    tokens_per_second: (prompts * n * response * 1000) / median(rollout),
    planned_bytes: planMemory(config).total(),
    counted_bytes: gpu.counts.live_bytes - held,
  }
  trainer.destroy()
  gpu.destroy()
  return row
}
