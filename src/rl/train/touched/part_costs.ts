// Measures what each part of a model does. Each is switched off by itself, in every pass, and the
// same held-out problems are answered: what that costs in reward, in the log-prob of the right
// answers, and in the entropy of every layer's policy.

import type { Gpu } from '../../../kernels/device/gpu.ts'
import type { Change } from '../../../model/interventions/intervention_tensors.ts'
import type { ModelShape } from '../../../model/layout/config.ts'
import type { ParamLayout } from '../../../model/layout/params.ts'
import type { TrainerConfig } from '../../config/trainer_config.ts'
import { type ChangeCost, ChangedAnswers, type Untouched } from './changed_answers.ts'

/** A part of a model that can be switched off. */
export interface Part {
  readonly where: 'attention' | 'head' | 'feed_forward' | 'block'
  /** Blocks applied, from 1. */
  readonly layer: number
  /** From 0; of heads alone. */
  readonly head?: number
}

export type PartCost = Part & ChangeCost

export interface PartCosts {
  readonly problems: number
  readonly untouched: Untouched
  readonly parts: readonly PartCost[]
}

/** Every part, block by block. */
export const partsOf = ({
  num_hidden_layers: L,
  num_attention_heads: H,
}: Pick<ModelShape, 'num_hidden_layers' | 'num_attention_heads'>): Part[] =>
  Array.from({ length: L }, (_, l) => l + 1).flatMap((layer): Part[] => [
    { where: 'block', layer },
    { where: 'attention', layer },
    ...Array.from({ length: H }, (_, head): Part => ({ where: 'head', layer, head })),
    { where: 'feed_forward', layer },
  ])

const offChange = ({ where, layer, head }: Part, shape: ModelShape): Change => ({
  where,
  layer,
  head,
  adds: false,
  values: new Float32Array(where === 'head' ? shape.head_dim : shape.hidden_size),
})

/** `onDone` is called after each part. */
export async function partCosts(
  gpu: Gpu,
  of: { readonly config: TrainerConfig; readonly layout: ParamLayout; weights: Float32Array },
  prompts: number,
  onDone: () => void = () => {},
): Promise<PartCosts> {
  const answers = await ChangedAnswers.create(gpu, of, prompts)
  const { shape } = of.layout
  const parts: PartCost[] = []
  for (const part of partsOf(shape)) {
    parts.push({ ...part, ...(await answers.cost(offChange(part, shape))) })
    onDone()
  }
  return { problems: answers.problems, untouched: answers.untouched(), parts }
}
