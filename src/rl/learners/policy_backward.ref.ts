// Computes the gradients of what an update minimises, in float64: the policy's own terms, and the
// entropy bonus of whichever policy has it.
import { entropyLossRef } from '../../kernels/policy_loss/entropy_loss.ref.ts'
import type { ModelConfig } from '../../model/layout/config.ts'
import { trainedPrefix } from '../../model/layout/flat_params.ts'
import { backwardRef } from '../../model/transformer/backward.ref.ts'
import type { RefArrays } from '../../model/transformer/operations.ref.ts'
import { policyRef, type RefResponse } from '../../model/transformer/policy.ref.ts'
import type { RefCache } from '../../model/transformer/transformer.ref.ts'
import { hasFinalEntropy } from '../config/actor.ts'
import { segmentFactors, type TrainedLayout, type TrainedPart } from '../config/trained_segments.ts'
import type { PolicyPhase } from './actor_programs.ts'

type Numbers = ArrayLike<number>

/** What is known of the policy being trained before the backward: [B, R] each. */
interface Scored {
  /** Of its entropy. */
  readonly entropy: Numbers
  readonly loss_weights: Numbers
  /** Of everything but the bonus. */
  readonly d_log_probs: Numbers
}

/** Blocks that an update runs through. */
export const blocksRead = (
  { num_hidden_layers }: Pick<ModelConfig, 'num_hidden_layers'>,
  phase: Pick<PolicyPhase, 'target_layer' | 'actor'>,
): number => (hasFinalEntropy(phase, num_hidden_layers) ? num_hidden_layers : phase.target_layer)

/** Gradients by parameter, and the entropy that the bonus is of. `cache` holds blocksRead
 * blocks. */
export function policyBackwardRef(
  config: ModelConfig,
  params: RefArrays,
  cache: RefCache,
  phase: Pick<PolicyPhase, 'target_layer' | 'actor'>,
  response: RefResponse,
  { entropy, loss_weights, d_log_probs }: Scored,
): { grads: RefArrays; entropy: number } {
  const { target_layer, actor } = phase
  const none = new Float64Array(d_log_probs.length)
  const L = config.num_hidden_layers
  if (!hasFinalEntropy(phase, L)) {
    const bonus = entropyLossRef(actor.entropy_coeff, entropy, loss_weights)
    const terms = { ...response, d_log_probs, d_entropy: bonus.d_entropy }
    return {
      grads: backwardRef(config, params, cache, target_layer, terms),
      entropy: bonus.entropy,
    }
  }
  const terms = { ...response, d_log_probs, d_entropy: none }
  const grads = backwardRef(config, params, cache, target_layer, terms)
  const final = policyRef(config, params, cache, L, response)
  const bonus = entropyLossRef(actor.entropy_coeff, final.entropy, loss_weights)
  const more = { ...response, d_log_probs: none, d_entropy: bonus.d_entropy }
  for (const [name, x] of Object.entries(backwardRef(config, params, cache, L, more)))
    grads[name] = grads[name]?.map((g, i) => g + x[i]) ?? x
  return { grads, entropy: bonus.entropy }
}

/** What adamwRef steps over: the policy's prefix, or everything with a factor for each
 * segment. */
export function trainedWhere(
  layout: TrainedLayout,
  part: TrainedPart,
): {
  readonly count: number
  readonly active_segments: number
  readonly lr_factors?: readonly number[]
} {
  const lr_factors = segmentFactors(layout, part)
  if (lr_factors)
    return { count: layout.size, active_segments: layout.segment_ends.length, lr_factors }
  const { count, segments } = trainedPrefix(layout, part.target_layer)
  return { count, active_segments: segments }
}
