// Makes the policy settings with which the actor takes the updates of a preference phase. Its loss
// is computed in float64 outside (rl/preferences); the gradient by each log-prob reaches the
// kernels as an advantage of the plain policy gradient, whose slope is minus that.

import { readsReference } from '../preferences/settings.ts'
import { ACTOR_DEFAULTS } from './actor.ts'
import { ALGORITHM_DEFAULTS } from './algorithm.ts'
import type { PreferencePhase, RlPhase } from './phase.ts'
import type { Rollout } from './rollout.ts'

/** A policy loss whose slope by a log-prob is minus its advantage, summed over all tokens. */
export const GIVEN_GRADIENT = {
  loss_mode: 'gpg',
  loss_agg_mode: 'token-sum',
  entropy_coeff: 0,
} as const

/** What an update reads of its phase. */
type UpdatedPolicy = Pick<RlPhase, 'target_layer' | 'target_readout' | 'actor' | 'algorithm'> & {
  readonly rollout: Pick<Rollout, 'temperature' | 'max_response_length'>
}

/** Of one mini-batch: all pairs of a step. */
export function policyPhaseOf(
  phase: Omit<PreferencePhase, 'kind' | 'name' | 'pairs' | 'steps'>,
  responseLength: number,
): UpdatedPolicy {
  const { target_layer, target_readout, batch_size, grad_clip, optim, preference } = phase
  return {
    target_layer,
    target_readout,
    rollout: { temperature: 1, max_response_length: responseLength },
    actor: {
      ...ACTOR_DEFAULTS,
      ...GIVEN_GRADIENT,
      ppo_mini_batch_size: 2 * batch_size,
      ppo_epochs: 1,
      grad_clip,
      optim,
    },
    // Nothing but the programs of the reference follows from this: no advantage is computed from a
    // reward.
    algorithm: { ...ALGORITHM_DEFAULTS, use_kl_in_reward: readsReference(preference) },
  }
}

/** The gradients of a loss by log-probs, as advantages. */
export const asAdvantages = (d_log_probs: ArrayLike<number>): Float32Array =>
  Float32Array.from(d_log_probs, (d) => -d)
