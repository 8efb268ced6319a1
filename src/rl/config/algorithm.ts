// How scores become rewards and advantages.

import type { KlPenalty } from '../../kernels/kl/kl_penalty.ts'
import type { AdvantageConfig } from '../estimators/estimator.ts'
import { NORM_ADV_EPSILON } from '../estimators/groups.ts'
import type { LossMode } from '../losses/losses.ts'
import type { FilterGroups } from './filter_groups.ts'
import type { OverlongBuffer } from './overlong.ts'

/** verl's algorithm.kl_ctrl; target_kl and horizon matter to `adaptive` only. */
export interface KlControllerConfig {
  readonly type: 'fixed' | 'adaptive'
  readonly kl_coef: number
  readonly target_kl: number
  readonly horizon: number
}

/** verl's algorithm.rollout_correction. */
export interface RolloutCorrection {
  /** Importance weights per token or per response; null = none. */
  readonly rollout_is: null | 'token' | 'sequence'
  /** Weights are cut off above this number, above 0; with verl's `lower_upper` (IcePop) those
   * outside become 0. */
  readonly rollout_is_threshold: number | string
  /** Divide the weights by their mean over the batch. */
  readonly rollout_is_batch_normalize: boolean
  /** Criteria, comma-separated, that a token or response must all meet; null = none. */
  readonly rollout_rs: null | string
  /** One threshold for all criteria or one each, comma-separated: `lower_upper` for k1, an upper
   * bound for k2 and k3. */
  readonly rollout_rs_threshold: null | string | number
  /** The rollout's log-probs stand for the old policy's; weights and mask come from the policy
   * being updated. */
  readonly bypass_mode: boolean
  /** Loss in bypass mode. */
  readonly loss_type: 'ppo_clip' | 'reinforce'
}

/** The loss that bypass mode chooses. */
export const bypassLoss = ({ loss_type }: Pick<RolloutCorrection, 'loss_type'>): LossMode =>
  loss_type === 'reinforce' ? 'reinforce' : 'vanilla'

/** The policy loss that is minimised: the actor's, but for bypass mode. */
export const lossInForce = ({
  actor,
  algorithm: { rollout_correction },
}: {
  readonly actor: { readonly loss_mode: LossMode }
  readonly algorithm: {
    readonly rollout_correction: Pick<RolloutCorrection, 'bypass_mode' | 'loss_type'>
  }
}): LossMode => (rollout_correction.bypass_mode ? bypassLoss(rollout_correction) : actor.loss_mode)

/** verl's `algorithm` block. */
export interface Algorithm extends Required<Pick<AdvantageConfig, 'gamma' | 'lam'>> {
  readonly norm_adv_by_std_in_grpo: boolean
  /** Added to that standard deviation; the epsilon of verl's functions (1e-6), where TRL has
   * 1e-4. */
  readonly norm_adv_epsilon: number
  /** KL to the reference policy taken off the rewards. */
  readonly use_kl_in_reward: boolean
  readonly kl_penalty: KlPenalty
  /** Take the KL of a whole response off the reward of its last token, where verl takes each
   * token's off its own. Not verl's. */
  readonly kl_at_last_token: boolean
  readonly kl_ctrl: KlControllerConfig
  readonly rollout_correction: RolloutCorrection
  /** DAPO's penalty for responses close to the maximum length; null = none. */
  readonly overlong_buffer: Omit<OverlongBuffer, 'max_resp_len'> | null
  /** DAPO's dynamic sampling. */
  readonly filter_groups: FilterGroups
  /** Reorder the rows of a batch by length before it is cut into mini-batches, as verl does by
   * default. */
  readonly balance_batch: boolean
}

export const ALGORITHM_DEFAULTS: Algorithm = {
  gamma: 1,
  lam: 1,
  norm_adv_by_std_in_grpo: true,
  norm_adv_epsilon: NORM_ADV_EPSILON,
  use_kl_in_reward: false,
  kl_penalty: 'kl',
  kl_at_last_token: false,
  kl_ctrl: { type: 'fixed', kl_coef: 0.001, horizon: 10000, target_kl: 0.1 },
  rollout_correction: {
    rollout_is: null,
    rollout_is_threshold: 2,
    rollout_is_batch_normalize: false,
    rollout_rs: null,
    rollout_rs_threshold: null,
    bypass_mode: false,
    loss_type: 'ppo_clip',
  },
  overlong_buffer: null,
  filter_groups: { enable: false, metric: 'acc', max_num_gen_batches: 10 },
  balance_batch: false,
}
