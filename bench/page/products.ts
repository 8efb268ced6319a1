// Times large matrix products on the variants that suit them, one product at a time, beside what
// the adapter can do at that moment.
import { Gpu } from '../../src/kernels/device/gpu.ts'
import { tuneMatmul } from '../../src/kernels/matmul/matmul_tune.ts'
import {
  defaultVariant,
  MATMUL_VARIANTS,
  matmulVariant,
} from '../../src/kernels/matmul/matmul_variants.ts'
import { type Peak, probePeak } from '../../src/kernels/peak/peak.ts'
import { SHAPES } from '../../src/rl/train/real/testing.ts'
import { layerShapes, type MatmulShape } from './matmul.ts'
import type { VariantsRow } from './variants.ts'

/** One product, with what the adapter did of nothing but multiply-adds just before. */
export interface ProductRow extends VariantsRow {
  readonly peak: Peak
}

/** All but those that are for software adapters. */
const KNOWN = MATMUL_VARIANTS.filter(({ suitsSoftware }) => !suitsSoftware)
/** Longer than the tuner's samples: the first ones would see a GPU that is still asleep. */
const SAMPLE_MS = 12
const BUDGET_MS = 20_000
const TOKENS = 512

const square = (op: MatmulShape['op'], size: number): MatmulShape => ({
  of: 'square',
  op,
  m: size,
  n: size,
  k: size,
})

let opened: Promise<Gpu> | undefined
const openOnce = () => {
  opened ??= Gpu.open()
  return opened
}

/** Large squares, then the layers of models of 135 and 600 million weights; on a software adapter
 * small squares, which show that the bench runs. */
export async function productShapes(): Promise<readonly MatmulShape[]> {
  const { facts } = await openOnce()
  if (facts.is_software) return [square('nn', 128), square('nt', 128), square('tn', 128)]
  return [
    square('nn', 4096),
    square('nt', 4096),
    square('tn', 4096),
    square('nn', 2048),
    ...layerShapes('135M', TOKENS, SHAPES['135m']),
    ...layerShapes('0.6B', TOKENS, SHAPES['0.6b']),
  ]
}

export async function benchProduct(shape: MatmulShape): Promise<ProductRow> {
  const gpu = await openOnce()
  const peak = await probePeak(gpu)
  // Large tiles take a minute to compile on a software adapter.
  const variants = gpu.facts.is_software ? [matmulVariant('staged_32x32_4x4')] : KNOWN
  // The tuner offers a software adapter what suits it alone.
  const offered = variants.map((variant) => ({ ...variant, suitsSoftware: true }))
  const { timings } = await tuneMatmul(gpu, [shape], {
    budgetMs: BUDGET_MS,
    variants: offered,
    sampleMs: SAMPLE_MS,
  })
  return { ...shape, peak, by_default: defaultVariant(shape.op, shape).name, timings }
}
