// Touches one model or two on a device of their own: what each part of the one does, or what each
// of the two has learned.
import type { Gpu } from '../../../kernels/device/gpu.ts'
import { MemoryPlan } from '../../../kernels/device/tensor.ts'
import { mixtures, requireSameShape } from '../../../model/interventions/transplant.ts'
import { modelShape } from '../../../model/layout/config.ts'
import { paramLayout } from '../../../model/layout/params.ts'
import type { TrainerConfig } from '../../config/trainer_config.ts'
import { type Exchange, type ExchangeSource, exchanged } from './exchange.ts'
import { HeldOut } from './held_out.ts'
import { type PartCosts, partCosts, partsOf, planParts } from './part_costs.ts'

/** A model in the layout without an adapter. */
export interface Touchable {
  readonly step: number
  readonly config: TrainerConfig
  readonly weights: Float32Array
}

/** What a device must give. */
export type OpenTouch = (plan: MemoryPlan) => Promise<Gpu>
type OnProgress = (done: number, of: number) => void

function layoutOf({ config }: Touchable) {
  if (config.tools)
    throw new RangeError('Held-out problems are answered in one turn here; this run calls tools.')
  const { lora: _, ...model } = config.model
  return paramLayout(modelShape(model))
}

/** What switching each part off costs. */
export async function touchParts(
  open: OpenTouch,
  model: Touchable,
  problems: number,
  onProgress: OnProgress,
): Promise<PartCosts> {
  const layout = layoutOf(model)
  const plan = new MemoryPlan()
  planParts(plan, model.config, layout, problems)
  const of = partsOf(layout.shape).length
  let done = 0
  const gpu = await open(plan)
  try {
    return await partCosts(gpu, { ...model, layout }, problems, () => onProgress(++done, of))
  } finally {
    gpu.destroy()
  }
}

/** Both ways round. Throws ShapeError for models of different shapes. */
export async function touchExchange(
  open: OpenTouch,
  pair: readonly [Touchable, Touchable],
  problems: number,
  onProgress: OnProgress,
): Promise<readonly [Exchange, Exchange]> {
  const sources = pair.map(
    (one): ExchangeSource => ({
      name: 'this run',
      step: one.step,
      layout: layoutOf(one),
      weights: one.weights,
    }),
  )
  const [{ config }] = pair
  const [first, second] = sources
  requireSameShape(first.layout, second.layout)
  const plan = new MemoryPlan()
  HeldOut.room(
    plan,
    { ...config, validation: { ...config.validation, prompts: problems } },
    first.layout,
  )
  const of = 2 * mixtures(first.layout.shape).length
  let done = 0
  const onDone = () => onProgress(++done, of)
  const gpu = await open(plan)
  try {
    const held_out = await HeldOut.create(gpu, config, first.layout, problems)
    const right = (weights: Float32Array) => held_out.right(weights)
    return [
      await exchanged(first, second, right, onDone),
      await exchanged(second, first, right, onDone),
    ]
  } finally {
    gpu.destroy()
  }
}
