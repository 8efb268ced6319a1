// Names of the policy losses, of the means over tokens, and of what the losses add up.

/** verl's names of the policy losses (actor.policy_loss.loss_mode); `reinforce` is what its bypass_mode can choose. */
export const LOSS_MODES = [
  'vanilla',
  'gspo',
  'sapo',
  'gpg',
  'clip_cov',
  'kl_cov',
  'geo_mean',
  'cispo',
  'reinforce',
] as const
export type LossMode = (typeof LOSS_MODES)[number]

/** verl's names of the means over tokens (actor.loss_agg_mode); loss_weights takes the index. */
export const LOSS_AGG_MODES = [
  'token-mean',
  'seq-mean-token-sum',
  'seq-mean-token-mean',
  'seq-mean-token-sum-norm',
] as const
export type LossAggMode = (typeof LOSS_AGG_MODES)[number]

/** How the policy loss itself is averaged: gspo and sapo always by sequence, whatever loss_agg_mode says of entropy and KL. */
export function pgAggMode(loss_mode: LossMode, loss_agg_mode: LossAggMode): LossAggMode {
  return loss_mode === 'gspo' || loss_mode === 'sapo' ? 'seq-mean-token-mean' : loss_agg_mode
}

/**
 * What the losses add up, in the order of their `sums`. The first four are a policy loss's own (0 where it has no such
 * metric), actor/entropy is entropy_loss's, actor/kl_loss is kl_loss's. Each is a mean over one mini-batch, also when
 * several calls see a part of it: the weights of loss_weights hold the divisor. `actor/pg_loss` leaves entropy and KL
 * out; entropy is of the policy being updated, in nats.
 */
export const POLICY_LOSS_SUMS = [
  'actor/pg_loss',
  'actor/ppo_kl',
  'actor/pg_clipfrac',
  'actor/pg_clipfrac_lower',
  'actor/entropy',
  'actor/kl_loss',
] as const

const KL = ['actor/ppo_kl'] as const
const CLIP = ['actor/ppo_kl', 'actor/pg_clipfrac'] as const
const DUAL_CLIP = ['actor/ppo_kl', 'actor/pg_clipfrac', 'actor/pg_clipfrac_lower'] as const

/** The metrics that verl's function of each loss_mode returns beside its loss; of gspo, sapo and cispo some are always 0. */
export const POLICY_LOSS_METRICS: Readonly<
  Record<LossMode, readonly (typeof POLICY_LOSS_SUMS)[number][]>
> = {
  vanilla: DUAL_CLIP,
  gspo: DUAL_CLIP,
  sapo: DUAL_CLIP,
  gpg: [],
  clip_cov: CLIP,
  kl_cov: KL,
  geo_mean: DUAL_CLIP,
  cispo: DUAL_CLIP,
  reinforce: KL,
}
