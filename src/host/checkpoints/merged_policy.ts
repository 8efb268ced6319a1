// Gives the weights of a run's policy as one model: a LoRA adapter merged into a copy of the base,
// steering vectors behind it.
import { modelConfig } from '../../document/experiment/fields/model_fields.ts'
import type { Experiment } from '../../document/experiment/schema/schema.ts'
import {
  adapterLayout,
  initialAdapter,
  ownAdapter,
  vectorsByLayer,
} from '../../model/layout/adapter_layout.ts'
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

/** The LoRA adapter that an experiment trains, and its factors; undefined where it trains none. */
export function adapterOf({ experiment, vocab_size, adapter }: Omit<Policy, 'policy'>) {
  const { lora, ...model } = modelConfig(experiment.model, vocab_size)
  if (!lora) return undefined
  const layout = adapterLayout(modelShape(model), lora)
  return { layout, weights: adapter ?? initialAdapter(layout, experiment.seed) }
}

/** The steering vectors that a run has trained, by layer, 0 to L; undefined where it trains
 * none. */
export function vectorsOf({ experiment, vocab_size, adapter }: Omit<Policy, 'policy'>) {
  const own = ownAdapter(modelShape(modelConfig(experiment.model, vocab_size)))
  return own && own.vectors.length > 0
    ? vectorsByLayer(own, adapter ?? new Float32Array(own.size))
    : undefined
}

/** As uploadModel takes them (model/transformer/model.ts). Undefined where the weights are those
 * that the experiment begins with. */
export function mergedPolicy(of: Policy): Float32Array | undefined {
  if (of.adapter && of.experiment.model.steering_vectors.trainable) return steeredPolicy(of)
  const own = adapterOf(of)
  if (!own || !of.adapter) return of.policy
  const layout = paramLayout(own.layout.shape)
  const weights = of.policy?.slice() ?? initialWeights(layout, of.experiment.seed)
  mergeAdapter(weights, layout, own.layout, own.weights)
  return weights
}

/** The weights, and behind them the vectors, which no weight can hold. */
function steeredPolicy({ experiment, vocab_size, policy, adapter }: Policy): Float32Array {
  const layout = paramLayout(modelShape(modelConfig(experiment.model, vocab_size)))
  const weights = policy ?? initialWeights(layout, experiment.seed)
  const vectors = adapter ?? new Float32Array(ownAdapter(layout.shape)?.size ?? 0)
  const whole = new Float32Array(weights.length + vectors.length)
  whole.set(weights)
  whole.set(vectors, weights.length)
  return whole
}
