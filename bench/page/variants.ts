// Times every variant of our own matrix products on the shapes of matmul.ts, beside what the
// adapter can do.
import { Gpu } from '../../src/kernels/device/gpu.ts'
import { type MatmulTiming, tuneMatmul } from '../../src/kernels/matmul/matmul_tune.ts'
import { defaultVariant, MATMUL_VARIANTS } from '../../src/kernels/matmul/matmul_variants.ts'
import { type Peak, probePeak } from '../../src/kernels/peak/peak.ts'
import { type MatmulShape, matmulShapes } from './matmul.ts'
import { progress } from './progress.ts'

/** Where a shape comes from and what the tuner saw of each variant there, the default first. */
export interface VariantsRow extends MatmulShape {
  readonly by_default: string
  readonly timings: readonly MatmulTiming[]
}

export interface VariantsRecord {
  readonly peak: Peak
  readonly rows: readonly VariantsRow[]
}

/** Large squares, for the part of the peak that nothing but the kernel limits; a software adapter
 * would take minutes. */
const LARGE = [2048, 4096].map((n): MatmulShape => ({ of: 'square', op: 'nn', m: n, n, k: n }))
const BUDGET_MS = 20_000

/** Times all variants on every shape. */
export async function benchVariants(presetId: string): Promise<VariantsRecord> {
  const gpu = await Gpu.open()
  const shapes = [...matmulShapes(presetId), ...(gpu.facts.is_software ? [] : LARGE)]
  const rows: VariantsRow[] = []
  for (const shape of shapes) {
    progress(`${shape.of} ${shape.op}, ${rows.length + 1} of ${shapes.length}`)
    const { timings } = await tuneMatmul(gpu, [shape], {
      budgetMs: BUDGET_MS,
      variants: MATMUL_VARIANTS,
    })
    rows.push({ ...shape, by_default: defaultVariant(shape.op, shape).name, timings })
  }
  const peak = await probePeak(gpu)
  gpu.destroy()
  return { peak, rows }
}
