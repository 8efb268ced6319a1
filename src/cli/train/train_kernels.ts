// Finds the kernels of matrix products that a run of lab train has: pinned, given by hand or
// measured first.

import { pinnedKernels } from '../../document/experiment/fields/pinned_kernels.ts'
import type { Gpu } from '../../kernels/device/gpu.ts'
import { gpuChoice } from '../../kernels/matmul/gpu_variants.ts'
import { tuneMatmul } from '../../kernels/matmul/matmul_tune.ts'
import {
  defaultVariant,
  type MatmulChoice,
  shapeClass,
} from '../../kernels/matmul/matmul_variants.ts'
import type { TrainerConfig } from '../../rl/config/trainer_config.ts'
import { runProducts } from '../../rl/train/tuning.ts'
import { LabFailure } from '../base/command.ts'
import { tell } from '../base/terminal.ts'
import type { NewRun } from './train_options.ts'

/** Software adapters compile slowly: this is enough for the largest few products of a small run. */
const TUNE_BUDGET_MS = 2000

/** Measures the products of a run that `pinned` leaves open. Says on stderr what it does and what
 * came of it. */
export async function tune(
  gpu: Gpu,
  config: TrainerConfig,
  pinned: MatmulChoice,
): Promise<MatmulChoice> {
  if (Object.hasOwn(pinned, '*')) {
    tell("--tune: '*' settles every product, nothing is measured")
    return pinned
  }
  const open = runProducts(config).filter((p) => !Object.hasOwn(pinned, shapeClass(p.op, p)))
  tell(`Measuring ${open.length} matrix products for ${TUNE_BUDGET_MS / 1000} s …`)
  const start = performance.now()
  const { choice, timings } = await tuneMatmul(gpu, open, { budgetMs: TUNE_BUDGET_MS, pinned })
  const seconds = ((performance.now() - start) / 1000).toFixed(1)
  // The first timing of a class is the default's.
  const defaults = new Map([...timings].reverse().map((t) => [t.shape_class, t.variant]))
  const faster = [...defaults].filter(([shapes, name]) => choice[shapes] !== name)
  tell(
    `${defaults.size} of ${open.length} measured in ${seconds} s, ${faster.length} of them faster on other kernels`,
  )
  // What was not measured is written down too, so that the record does not depend on today's
  // default rule.
  const settled = open.map((p) => [shapeClass(p.op, p), defaultVariant(p.op, p).name] as const)
  return { ...Object.fromEntries(settled), ...gpuChoice(open, gpu.facts), ...choice }
}

/** What a run has of which nothing is pinned: on a GPU what suits it, on a software adapter the
 * default kernels. */
export const unpinned = (gpu: Gpu, config: TrainerConfig): MatmulChoice =>
  gpuChoice(runProducts(config), gpu.facts)

/** The kernels that are settled before anything is measured, undefined where none are. Refuses to
 * measure where the experiment has pinned all. */
export function settledKernels({ experiment, matmul, tune }: NewRun): MatmulChoice | undefined {
  const pinned = matmul ? undefined : pinnedKernels(experiment)
  if (pinned && tune)
    throw new LabFailure(
      '--tune: this experiment pins its kernels, so there is nothing to measure. Leave --tune out, or empty the field kernels',
    )
  return matmul ?? pinned
}
