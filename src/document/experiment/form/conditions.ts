// Decides where a setting of a reinforcement phase or of validation has an effect, and the heading
// above it.
import { aggregationOf } from '../../../kernels/policy_loss/aggregations/aggregations.ts'
import { hasBonus } from '../../../rl/config/actor.ts'
import { asksTeacher, lossInForce } from '../../../rl/config/algorithm.ts'
import { everValidates, type Validation } from '../../../rl/config/validation.ts'
import { estimatorOf } from '../../../rl/estimators/advantages.ts'
import type { Estimator } from '../../../rl/estimators/estimator.ts'
import { LOSS_NUMBERS, numberPath, policyLossOf } from '../../../rl/losses/losses.ts'
import { correctsRollout, hasCritic, type PhaseSettings } from '../schema/phase_settings.ts'

type Condition = (settings: PhaseSettings) => boolean

const lossOf = (settings: PhaseSettings) => policyLossOf(lossInForce(settings))

/** A number of losses has an effect where the loss in force has it. */
const LOSS_CONDITIONS: Readonly<Record<string, Condition>> = Object.fromEntries(
  [...LOSS_NUMBERS.keys()].map((name) => [
    numberPath(name),
    (settings: PhaseSettings) => name in lossOf(settings).numbers,
  ]),
)

/** verl's rule: steps that are given count, 0 too. */
export const warmsUpByShare = ({
  lr_warmup_steps,
}: {
  readonly lr_warmup_steps: number | null
}): boolean => lr_warmup_steps === null

/** Whether the estimator uses this setting of `algorithm`. */
const isUsed =
  (name: Estimator['settings'][number]): Condition =>
  ({ adv_estimator }) =>
    estimatorOf(adv_estimator).settings.includes(name)

const inReward: Condition = ({ algorithm }) => algorithm.use_kl_in_reward

const learnsAlong: Condition = ({ actor }) => actor.inner.layers !== null

const distillsItself: Condition = (settings) =>
  learnsAlong(settings) && settings.actor.inner.objective === 'self_distill'

const isAdaptive: Condition = ({ algorithm }) =>
  algorithm.use_kl_in_reward && algorithm.kl_ctrl.type === 'adaptive'

const hasTurns: Condition = ({ rollout }) => (rollout.max_turns ?? 1) > 1

const inLoss: Condition = ({ actor }) => actor.use_kl_loss

const hasReference: Condition = (settings) => inLoss(settings) || inReward(settings)

const followsPolicy: Condition = (settings) =>
  hasReference(settings) && settings.actor.sync_ref_model

const followsEntropy: Condition = ({ actor }) => actor.use_adaptive_entropy

const isStale: Condition = ({ rollout }) => (rollout.staleness ?? 0) > 0

const filters: Condition = ({ algorithm }) => algorithm.filter_groups.enable

const isWeighted: Condition = ({ algorithm }) => algorithm.rollout_correction.rollout_is !== null

/** Whether a batch is cut at all. verl's legacy worker never shuffles before it cuts. */
const cutsBatch: Condition = (settings) => {
  const { actor, critic, rollout } = settings
  const ofCritic = hasCritic(settings) ? critic.ppo_mini_batch_size : 0
  const smallest = Math.min(actor.ppo_mini_batch_size, ofCritic || actor.ppo_mini_batch_size)
  return actor.use_legacy_worker_impl === 'disable' && smallest < rollout.train_batch_size
}

/** A field, or all that lies below it, has an effect only where the condition holds. */
export const CONDITIONS: Readonly<Record<string, Condition>> = {
  'actor.shuffle': cutsBatch,
  'actor.loss_mode': ({ algorithm }) => !algorithm.rollout_correction.bypass_mode,
  ...LOSS_CONDITIONS,
  'actor.importance_sampling_level': (settings) => lossOf(settings).hasLevel !== undefined,
  // It is the mean of entropy and KL too.
  'actor.loss_agg_mode': (settings) =>
    lossOf(settings).ownMean === undefined ||
    settings.actor.use_kl_loss ||
    hasBonus(settings.actor),
  'actor.entropy_of': ({ actor }) => hasBonus(actor),
  'actor.entropy_target': followsEntropy,
  'actor.entropy_coef_delta': followsEntropy,
  'actor.entropy_coef_min': followsEntropy,
  'actor.entropy_coef_max': followsEntropy,
  'actor.optim.muon': ({ actor }) => actor.optim.optimizer === 'Muon',
  'critic.optim.muon': ({ critic }) => critic.optim.optimizer === 'Muon',
  'actor.optim.lr_warmup_steps_ratio': ({ actor }) => warmsUpByShare(actor.optim),
  'critic.optim.lr_warmup_steps_ratio': ({ critic }) => warmsUpByShare(critic.optim),
  'actor.optim.min_lr_ratio': ({ actor }) => actor.optim.lr_scheduler_type === 'cosine',
  'critic.optim.min_lr_ratio': ({ critic }) => critic.optim.lr_scheduler_type === 'cosine',
  'actor.optim.decay_norms': ({ actor }) => actor.optim.weight_decay > 0,
  'critic.optim.decay_norms': ({ critic }) => critic.optim.weight_decay > 0,
  // verl's legacy worker does not pass the factor on.
  'actor.loss_scale_factor': (settings) =>
    CONDITIONS['actor.loss_agg_mode'](settings) &&
    aggregationOf(settings.actor.loss_agg_mode).usesScaleFactor === true &&
    settings.actor.use_legacy_worker_impl === 'disable',
  'actor.sync_ref_model': hasReference,
  'actor.ref_model_mixup_alpha': followsPolicy,
  'actor.ref_model_sync_steps': followsPolicy,
  'actor.kl_loss_coef': inLoss,
  'actor.inner.objective': learnsAlong,
  'actor.inner.weights': learnsAlong,
  'actor.inner.readout': learnsAlong,
  'actor.inner.beta': distillsItself,
  'actor.inner.token_weight': distillsItself,
  'actor.kl_loss_type': inLoss,
  critic: hasCritic,
  'algorithm.gamma': isUsed('gamma'),
  'algorithm.lam': isUsed('lam'),
  'algorithm.norm_adv_by_std_in_grpo': isUsed('norm_adv_by_std_in_grpo'),
  'algorithm.norm_adv_epsilon': (settings) =>
    isUsed('norm_adv_epsilon')(settings) ||
    (isUsed('norm_adv_by_std_in_grpo')(settings) && settings.algorithm.norm_adv_by_std_in_grpo),
  'algorithm.shuffle_scores': ({ adv_estimator, rollout }) =>
    rollout.n > 1 && adv_estimator !== 'gdpo',
  'algorithm.use_task_rewards': asksTeacher,
  'algorithm.kl_penalty': inReward,
  'algorithm.kl_at_last_token': (settings) =>
    inReward(settings) && estimatorOf(settings.adv_estimator).isTokenwise,
  'algorithm.kl_ctrl': inReward,
  'algorithm.kl_ctrl.target_kl': isAdaptive,
  'algorithm.kl_ctrl.horizon': isAdaptive,
  'rollout.max_parallel_calls': hasTurns,
  'rollout.max_tool_response_length': hasTurns,
  'rollout.tool_response_truncate_side': hasTurns,
  'rollout.stale_fraction': isStale,
  // Every correction compares them anyway, and so do stale samples.
  'rollout.calculate_log_probs': (settings) => !correctsRollout(settings) && !isStale(settings),
  'algorithm.rollout_correction.loss_type': ({ algorithm }) =>
    algorithm.rollout_correction.bypass_mode,
  'algorithm.rollout_correction.rollout_is_threshold': isWeighted,
  'algorithm.rollout_correction.rollout_is_threshold_lower': isWeighted,
  'algorithm.rollout_correction.rollout_is_batch_normalize': isWeighted,
  'algorithm.filter_groups.metric': filters,
  'algorithm.filter_groups.max_num_gen_batches': filters,
  // verl's reward managers return a reward model's scores as they are.
  'algorithm.overlong_buffer': ({ reward_model }) => !reward_model.enable,
  'algorithm.overlong_buffer.penalty_factor': ({ algorithm }) =>
    algorithm.overlong_buffer.len !== null,
}

/** Of the validation section. */
export const validationHasEffect = (name: string, validation: Validation): boolean => {
  if (name === 'temperature') return everValidates(validation) && validation.n > 0
  return name !== 'log_val_generations' || everValidates(validation)
}

/** Whether the field at this path, e.g. 'actor.tau_pos', changes anything in a phase of these
 * settings. */
export const hasEffect = (path: string, settings: PhaseSettings): boolean =>
  // The path itself and every part that it lies in.
  path
    .split('.')
    .every((_, i, names) => CONDITIONS[names.slice(0, i + 1).join('.')]?.(settings) ?? true)

/** The warm-up is that of the phase which began the learning-rate schedule
 * (rl/config/schedule.ts). */
export const isOfSchedule = (path: string): boolean =>
  /\boptim\.lr_warmup_steps(_ratio)?$/.test(path)

/** Whether a setting of a phase's own changes anything there; `beginsSchedule`: the phase
 * continues no other schedule. */
export const hasOwnEffect = (
  path: string,
  settings: PhaseSettings,
  beginsSchedule: boolean,
): boolean => hasEffect(path, settings) && (beginsSchedule || !isOfSchedule(path))

/** The headings of shared settings; the first that fits counts. */
const GROUPS: readonly (readonly [part: string, group: string])[] = [
  ['rollout.calculate_log_probs', 'Rollout correction'],
  ['rollout', 'Rollout'],
  ['actor.use_kl_loss', 'KL to the reference'],
  ['actor.kl_loss_coef', 'KL to the reference'],
  ['actor.kl_loss_type', 'KL to the reference'],
  ['actor.sync_ref_model', 'KL to the reference'],
  ['actor.ref_model_mixup_alpha', 'KL to the reference'],
  ['actor.ref_model_sync_steps', 'KL to the reference'],
  ['actor.inner', 'Inner layers'],
  ['actor', 'Actor'],
  ['critic', 'Critic'],
  ['algorithm.opd_kl_coef', 'Teacher'],
  ['algorithm.use_task_rewards', 'Teacher'],
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
  GROUPS.find(([part]) => `${path}.`.startsWith(`${part}.`))?.[1] ?? 'Algorithm'
