// Where a setting of a reinforcement phase or of validation has an effect, and the heading above it.
import type { LossMode } from '../../../kernels/policy_loss/loss_modes.ts'
import { everValidates, type Validation } from '../../../rl/config/validation.ts'
import type { AdvEstimator } from '../../../rl/estimators/advantages.ts'
import { correctsRollout, hasCritic, type PhaseSettings } from '../phase_settings.ts'

/** Estimators that look at the reward of every token; the others at a response's sum. */
const TOKENWISE: readonly AdvEstimator[] = [
  'gae',
  'reinforce_plus_plus',
  'remax',
  'optimal_token_baseline',
  'tir_optimal_token_baseline',
]

const DISCOUNTS: readonly AdvEstimator[] = ['gae', 'reinforce_plus_plus']

const NORMALISES: readonly AdvEstimator[] = ['grpo', 'grpo_vectorized', 'grpo_passk']

const CLIPS: readonly LossMode[] = ['vanilla', 'gspo', 'clip_cov', 'geo_mean', 'cispo']

type Condition = (settings: PhaseSettings) => boolean

/** The loss that is minimised; in bypass mode rollout_correction chooses it. */
const lossMode = ({ actor, algorithm }: PhaseSettings): LossMode => {
  const { bypass_mode, loss_type } = algorithm.rollout_correction
  if (!bypass_mode) return actor.loss_mode
  return loss_type === 'reinforce' ? 'reinforce' : 'vanilla'
}

/** These are averaged by response, whatever loss_agg_mode says. */
const OWN_MEAN: readonly LossMode[] = ['gspo', 'sapo', 'geo_mean']

const isLoss =
  (...modes: readonly LossMode[]): Condition =>
  (settings) =>
    modes.includes(lossMode(settings))

/** verl's rule: steps that are given count, 0 too. */
export const warmsUpByShare = ({
  lr_warmup_steps,
}: {
  readonly lr_warmup_steps: number
}): boolean => lr_warmup_steps < 0

const inReward: Condition = ({ algorithm }) => algorithm.use_kl_in_reward

const isAdaptive: Condition = ({ algorithm }) =>
  algorithm.use_kl_in_reward && algorithm.kl_ctrl.type === 'adaptive'

const inLoss: Condition = ({ actor }) => actor.use_kl_loss

const filters: Condition = ({ algorithm }) => algorithm.filter_groups.enable

const isWeighted: Condition = ({ algorithm }) => algorithm.rollout_correction.rollout_is !== 'off'

/** Whether a batch is cut at all. verl's legacy worker never shuffles before it cuts. */
const cutsBatch: Condition = (settings) => {
  const { actor, critic, rollout } = settings
  const of_critic = hasCritic(settings) ? critic.ppo_mini_batch_size : 0
  const smallest = Math.min(actor.ppo_mini_batch_size, of_critic || actor.ppo_mini_batch_size)
  return actor.use_legacy_worker_impl === 'disable' && smallest < rollout.train_batch_size
}

/** A field, or all that lies below it, has an effect only where the condition holds. */
export const CONDITIONS: Readonly<Record<string, Condition>> = {
  'actor.shuffle': cutsBatch,
  'actor.loss_mode': ({ algorithm }) => !algorithm.rollout_correction.bypass_mode,
  'actor.clip_ratio_low': isLoss(...CLIPS),
  'actor.clip_ratio_high': isLoss(...CLIPS),
  'actor.clip_ratio_c': isLoss('vanilla'),
  'actor.tau_pos': isLoss('sapo'),
  'actor.tau_neg': isLoss('sapo'),
  'actor.policy_loss.clip_cov_ratio': isLoss('clip_cov'),
  'actor.policy_loss.clip_cov_lb': isLoss('clip_cov'),
  'actor.policy_loss.clip_cov_ub': isLoss('clip_cov'),
  'actor.policy_loss.kl_cov_ratio': isLoss('kl_cov'),
  'actor.policy_loss.ppo_kl_coef': isLoss('kl_cov'),
  // It is the mean of entropy and KL too.
  'actor.loss_agg_mode': (settings) =>
    !isLoss(...OWN_MEAN)(settings) ||
    settings.actor.use_kl_loss ||
    settings.actor.entropy_coeff > 0,
  'actor.optim.lr_warmup_steps_ratio': ({ actor }) => warmsUpByShare(actor.optim),
  'critic.optim.lr_warmup_steps_ratio': ({ critic }) => warmsUpByShare(critic.optim),
  'actor.optim.min_lr_ratio': ({ actor }) => actor.optim.lr_scheduler_type === 'cosine',
  'critic.optim.min_lr_ratio': ({ critic }) => critic.optim.lr_scheduler_type === 'cosine',
  'actor.optim.decay_norms': ({ actor }) => actor.optim.weight_decay > 0,
  'critic.optim.decay_norms': ({ critic }) => critic.optim.weight_decay > 0,
  // verl's legacy worker does not pass the factor on.
  'actor.loss_scale_factor': (settings) =>
    CONDITIONS['actor.loss_agg_mode'](settings) &&
    settings.actor.loss_agg_mode === 'seq-mean-token-sum-norm' &&
    settings.actor.use_legacy_worker_impl === 'disable',
  'actor.kl_loss_coef': inLoss,
  'actor.kl_loss_type': inLoss,
  critic: hasCritic,
  'algorithm.gamma': ({ adv_estimator }) => DISCOUNTS.includes(adv_estimator),
  'algorithm.lam': hasCritic,
  'algorithm.norm_adv_by_std_in_grpo': ({ adv_estimator }) => NORMALISES.includes(adv_estimator),
  'algorithm.norm_adv_epsilon': ({ adv_estimator, algorithm }) =>
    NORMALISES.includes(adv_estimator) && algorithm.norm_adv_by_std_in_grpo,
  'algorithm.kl_penalty': inReward,
  'algorithm.kl_at_last_token': (settings) =>
    inReward(settings) && TOKENWISE.includes(settings.adv_estimator),
  'algorithm.kl_ctrl': inReward,
  'algorithm.kl_ctrl.target_kl': isAdaptive,
  'algorithm.kl_ctrl.horizon': isAdaptive,
  // Every correction compares them anyway.
  'rollout.calculate_log_probs': (settings) => !correctsRollout(settings),
  'algorithm.rollout_correction.loss_type': ({ algorithm }) =>
    algorithm.rollout_correction.bypass_mode,
  'algorithm.rollout_correction.rollout_is_threshold': isWeighted,
  'algorithm.rollout_correction.rollout_is_batch_normalize': isWeighted,
  'algorithm.filter_groups.metric': filters,
  'algorithm.filter_groups.max_num_gen_batches': filters,
  // verl's reward managers return a reward model's scores as they are.
  'algorithm.overlong_buffer': ({ reward_model }) => !reward_model.enable,
  'algorithm.overlong_buffer.penalty_factor': ({ algorithm }) => algorithm.overlong_buffer.len > 0,
}

/** Of the validation section. */
export const validationHasEffect = (name: string, validation: Validation): boolean => {
  if (name === 'temperature') return everValidates(validation) && validation.n > 0
  return name !== 'log_val_generations' || everValidates(validation)
}

const isWithin = (path: string, part: string) => path === part || path.startsWith(`${part}.`)

/** Whether the field at this path, e.g. 'actor.tau_pos', changes anything in a phase of these settings. */
export const hasEffect = (path: string, settings: PhaseSettings): boolean =>
  Object.entries(CONDITIONS).every(([part, holds]) => !isWithin(path, part) || holds(settings))

/** The warm-up is that of the phase which began the learning-rate schedule (rl/config/schedule.ts). */
export const isOfSchedule = (path: string): boolean =>
  /\boptim\.lr_warmup_steps(_ratio)?$/.test(path)

/** Whether a setting of a phase's own changes anything there; `begins_schedule`: the phase continues no other schedule. */
export const hasOwnEffect = (
  path: string,
  settings: PhaseSettings,
  begins_schedule: boolean,
): boolean => hasEffect(path, settings) && (begins_schedule || !isOfSchedule(path))

/** The headings of shared settings; the first that fits counts. */
const GROUPS: readonly (readonly [part: string, group: string])[] = [
  ['rollout.calculate_log_probs', 'Rollout correction'],
  ['rollout', 'Rollout'],
  ['actor.use_kl_loss', 'KL to the reference'],
  ['actor.kl_loss_coef', 'KL to the reference'],
  ['actor.kl_loss_type', 'KL to the reference'],
  ['actor', 'Actor'],
  ['critic', 'Critic'],
  ['algorithm.use_kl_in_reward', 'KL to the reference'],
  ['algorithm.kl_penalty', 'KL to the reference'],
  ['algorithm.kl_at_last_token', 'KL to the reference'],
  ['algorithm.kl_ctrl', 'KL to the reference'],
  ['algorithm.rollout_correction', 'Rollout correction'],
  ['algorithm.overlong_buffer', 'Reward'],
  ['algorithm.filter_groups', 'Rollout'],
  ['algorithm', 'Algorithm'],
]

/** The heading above a shared setting. */
export const groupOf = (path: string): string =>
  GROUPS.find(([part]) => isWithin(path, part))?.[1] ?? 'Algorithm'
