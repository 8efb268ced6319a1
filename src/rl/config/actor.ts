// How a phase of reinforcement updates the policy.
import type { KlPenalty } from '../../kernels/kl/kl_penalty.ts'
import type { LossAggMode } from '../../kernels/policy_loss/aggregations/aggregations.ts'
import { type LossMode, type LossSettings, numbersAsSettings } from '../losses/losses.ts'
import type { Optim } from './optim.ts'

/** The policies that an entropy bonus can be of. */
export type EntropyOf = 'target_layer' | 'final'

/** verl's `actor` block. The losses declare their own numbers (rl/losses). */
export interface Actor extends LossSettings {
  /** Prompts per optimizer step; times G rows. */
  readonly ppo_mini_batch_size: number
  readonly ppo_epochs: number
  /** Whether every epoch cuts its mini-batches from another order of the responses; the critic's
   * too. verl's legacy worker does not shuffle (shufflesRows). */
  readonly shuffle: boolean
  /** bypass_mode is chosen by rollout_correction. */
  readonly loss_mode: LossMode
  readonly loss_agg_mode: LossAggMode
  /** Divisor of seq-mean-token-sum-norm; null = R. */
  readonly loss_scale_factor: number | null
  readonly entropy_coeff: number
  /** Whose entropy the bonus is of in a phase of an inner layer: that of the policy being trained,
   * or of the whole model's, whose gradient reaches every layer and the final norm, as in BuPO's
   * fork of verl. Default target_layer. */
  readonly entropy_of?: EntropyOf
  /** KL to the reference policy as a term of the loss. */
  readonly use_kl_loss: boolean
  readonly kl_loss_coef: number
  readonly kl_loss_type: KlPenalty
  /** Rows per forward and backward; null = as many as fit. */
  readonly ppo_micro_batch_size_per_gpu: number | null
  /** verl's two rules for micro-batches. 'disable' (its engine worker): every micro-batch is
   * divided by the tokens and sequences of the whole mini-batch. 'enable' (its legacy worker): each
   * by its own, and the results are averaged. */
  readonly use_legacy_worker_impl: 'disable' | 'enable'
  /** Largest global gradient norm. */
  readonly grad_clip: number
  readonly optim: Optim
}

/** Whether a phase of an inner layer has a bonus for the entropy of the whole model's policy. */
export const hasFinalEntropy = (
  {
    target_layer,
    actor,
  }: {
    readonly target_layer: number
    readonly actor?: Pick<Actor, 'entropy_coeff' | 'entropy_of'> | undefined
  },
  layers: number,
): boolean => target_layer < layers && actor?.entropy_of === 'final' && actor.entropy_coeff !== 0

/** verl's defaults of what an experiment may leave out. */
export const ACTOR_DEFAULTS = {
  shuffle: false,
  loss_mode: 'vanilla',
  loss_agg_mode: 'token-mean',
  loss_scale_factor: null,
  ...numbersAsSettings((number) => number.default),
  entropy_coeff: 0,
  entropy_of: 'target_layer',
  use_kl_loss: false,
  kl_loss_coef: 0.001,
  kl_loss_type: 'low_var_kl',
  ppo_micro_batch_size_per_gpu: null,
  use_legacy_worker_impl: 'disable',
} as const satisfies Partial<Actor>
