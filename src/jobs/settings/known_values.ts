// Lists the values that verl, BuPO's fork and TRL know. None of them checks these before a job has
// started, so a job is refused here instead. Sources: verl v0.7.1 and v0.9.0 and BuPO d3a85c6,
// verl/trainer/ppo/core_algos.py and workers/config; trl 1.13.0 GRPOConfig.

const OLD_ADV_ESTIMATORS = [
  'gae',
  'grpo',
  'grpo_passk',
  'reinforce_plus_plus',
  'reinforce_plus_plus_baseline',
  'remax',
  'rloo',
  'opo',
  'gpg',
] as const

/** What the lab calls grpo_vectorized as verl computes it from 0.8.0. */
export const TODAYS_GRPO_VECTORIZED = 'grpo_vectorized_0.8'
/** algorithm.adv_estimator, without gdpo, whose keys a reward of a job does not return. */
export const VERL_ADV_ESTIMATORS: readonly string[] = [
  ...OLD_ADV_ESTIMATORS,
  'grpo_vectorized',
  TODAYS_GRPO_VECTORIZED,
  'rloo_vectorized',
  'optimal_token_baseline',
  'tir_optimal_token_baseline',
]
/** Those of the fork that need no critic: its recipe has none. */
export const BUPO_ADV_ESTIMATORS: readonly string[] = OLD_ADV_ESTIMATORS.filter(
  (name) => name !== 'gae',
)
/** TRL's scale_rewards batch. */
export const BATCH_STD = 'grpo_batch_std'
/** TRL's GRPOTrainer compares the responses to one prompt, and nothing else. */
export const TRL_ADV_ESTIMATORS: readonly string[] = ['grpo', 'grpo_vectorized', BATCH_STD]

const OLD_LOSS_MODES = ['vanilla', 'gspo', 'gpg', 'clip_cov', 'kl_cov', 'geo_mean'] as const

/** actor_rollout_ref.actor.policy_loss.loss_mode. */
export const VERL_0_7_LOSS_MODES: readonly string[] = [...OLD_LOSS_MODES, 'sapo', 'cispo']
export const VERL_LOSS_MODES: readonly string[] = [
  ...VERL_0_7_LOSS_MODES,
  'dppo_tv',
  'dppo_kl',
  'dro',
]
export const BUPO_LOSS_MODES: readonly string[] = OLD_LOSS_MODES
/** Losses of the lab that TRL has with the same meaning; its cispo clamps from above alone. */
export const TRL_LOSS_MODES: readonly string[] = ['vanilla', 'gspo', 'sapo', 'vespo']

/** actor_rollout_ref.actor.loss_agg_mode. */
export const VERL_0_7_LOSS_AGG_MODES: readonly string[] = [
  'token-mean',
  'seq-mean-token-sum',
  'seq-mean-token-mean',
  'seq-mean-token-sum-norm',
]
/** What the lab calls seq-mean-token-sum-norm as verl (from 0.7.1) and TRL compute it. */
export const TODAYS_NORM = 'seq-mean-token-sum-norm-0.7.1'
export const VERL_LOSS_AGG_MODES: readonly string[] = [
  ...VERL_0_7_LOSS_AGG_MODES,
  'token-sum',
  TODAYS_NORM,
]
export const TRL_LOSS_AGG_MODES: readonly string[] = [
  'token-mean',
  'seq-mean-token-sum',
  'seq-mean-token-mean',
  'seq-mean-token-sum-norm',
  TODAYS_NORM,
]

const KL_PENALTIES = ['kl', 'k1', 'abs', 'mse', 'k2', 'low_var_kl', 'k3'] as const

/** actor.kl_loss_type; with a + the gradient is k2's. */
export const VERL_KL_LOSS_TYPES: readonly string[] = [
  ...KL_PENALTIES,
  ...KL_PENALTIES.map((name) => `${name}+`),
]
/** algorithm.kl_penalty, and the fork's kl_loss_type. */
export const VERL_KL_PENALTIES: readonly string[] = KL_PENALTIES
export const TRL_KL_LOSS_TYPES: readonly string[] = ['low_var_kl', 'k3']

/** algorithm.filter_groups.metric: what reward.py returns, and nothing that is added to it
 * later. */
export const FILTER_METRICS: readonly string[] = ['acc', 'score']
