// Measures what each part of a model does. Each is switched off by itself, in every pass, and the
// same held-out problems are answered: what that costs in reward, in the log-prob of the right
// answers, and in the entropy of every layer's policy.

import type { Gpu } from '../../../../kernels/device/gpu.ts'
import { offChange, partsOf } from '../../../../model/interventions/parts.ts'
import type { ParamLayout } from '../../../../model/layout/params.ts'
import type { TrainerConfig } from '../../../config/trainer_config.ts'
import type { PartCost, PartCosts } from '../../../look/observation.ts'
import { ChangedAnswers } from './changed_answers.ts'

/** `layers`: the blocks whose parts are switched off, all by default. `onDone` is called after each
 * part. */
export async function partCosts(
  gpu: Gpu,
  of: { readonly config: TrainerConfig; readonly layout: ParamLayout; weights: Float32Array },
  prompts: number,
  onDone: () => void = () => {},
  layers?: readonly number[],
): Promise<PartCosts> {
  const answers = await ChangedAnswers.create(gpu, of, prompts)
  const { shape } = of.layout
  const parts: PartCost[] = []
  for (const part of partsOf(shape, layers)) {
    parts.push({ ...part, ...(await answers.cost([offChange(part, shape)])) })
    onDone()
  }
  return { problems: answers.problems, untouched: answers.untouched(), parts }
}
