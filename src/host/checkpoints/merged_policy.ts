// The weights of a run's policy as one model, with its adapter merged into a copy of the base.
import { modelConfig } from '../../document/experiment/fields/model_fields.ts'
import type { Experiment } from '../../document/experiment/schema/schema.ts'
import { adapterLayout, initialAdapter } from '../../model/layout/adapter_layout.ts'
import { modelShape } from '../../model/layout/config.ts'
import { mergeAdapter } from '../../model/layout/merge.ts'
import { initialWeights, paramLayout } from '../../model/layout/params.ts'

interface Policy {
  readonly experiment: Experiment
  readonly vocab_size: number
  /** Undefined = as the experiment begins. */
  readonly policy: Float32Array | undefined
  readonly adapter?: Float32Array | undefined
}

/** The adapter that an experiment trains, and its factors; undefined where it trains none. */
export function adapterOf({ experiment, vocab_size, adapter }: Omit<Policy, 'policy'>) {
  const { lora, ...model } = modelConfig(experiment.model, vocab_size)
  if (!lora) return undefined
  const layout = adapterLayout(modelShape(model), lora)
  return { layout, weights: adapter ?? initialAdapter(layout, experiment.seed) }
}

/** Undefined where the weights are those that the experiment begins with. */
export function mergedPolicy(of: Policy): Float32Array | undefined {
  const own = adapterOf(of)
  if (!own || !of.adapter) return of.policy
  const layout = paramLayout(own.layout.shape)
  const weights = of.policy?.slice() ?? initialWeights(layout, of.experiment.seed)
  mergeAdapter(weights, layout, own.layout, own.weights)
  return weights
}
