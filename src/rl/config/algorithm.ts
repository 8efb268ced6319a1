// Declares how scores become rewards and advantages.
import type { KlPenalty } from '../../kernels/kl/kl_penalty.ts'
import type { AdvantageConfig } from '../estimators/estimator.ts'
import { NORM_ADV_EPSILON } from '../estimators/groups.ts'
import { boolean, defaultsOf, integer, number, select, type Tree } from '../fields/field.ts'
import { klCoef, klPenalty } from '../fields/kl_fields.ts'
import type { LossMode } from '../losses/losses.ts'
import type { FilterGroups, FilterMetric } from './filter_groups.ts'
import { MAX_RESPONSE_LENGTH } from './rollout.ts'
import {
  bypassLoss,
  engineCorrection,
  ROLLOUT_CORRECTION,
  type RolloutCorrection,
  type RolloutCorrectionFields,
} from './rollout_correction.ts'

/** verl's algorithm.kl_ctrl; target_kl and horizon matter to `adaptive` only. */
export interface KlControllerConfig {
  readonly type: 'fixed' | 'adaptive'
  readonly kl_coef: number
  readonly target_kl: number
  readonly horizon: number
}

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

/** Whether another model scores the sampled tokens. */
export const asksTeacher = ({
  algorithm,
}: {
  readonly algorithm: { readonly opd_kl_coef: number }
}): boolean => algorithm.opd_kl_coef > 0

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
  /** What the KL of each sampled token to another model counts in its advantage; slime's name. 0
   * = none. */
  readonly opd_kl_coef: number
  /** Whether rewards count beside it; verl's name. */
  readonly use_task_rewards: boolean
  readonly rollout_correction: RolloutCorrection
  /** DAPO's penalty for responses close to the maximum length; a length of null = none. */
  readonly overlong_buffer: {
    readonly len: number | null
    readonly penalty_factor: number
  }
  /** Leave responses that did not end out of the update; their rewards count in their groups. TRL's
   * name; DAPO's overlong filtering. */
  readonly mask_truncated_completions: boolean
  /** DAPO's dynamic sampling. */
  readonly filter_groups: FilterGroups
  /** Reorder the rows of a batch by length before it is cut into mini-batches, as verl does by
   * default. */
  readonly balance_batch: boolean
  /** A control: the responses to a prompt get one another's scores (train/stages/dealt_scores.ts).
   * Not verl's. */
  readonly shuffle_scores: boolean
}

/** The engine's algorithm; verl's `lower_upper` of importance weights is two fields of an
 * experiment. */
export type AlgorithmFields = Omit<Algorithm, 'rollout_correction'> & {
  readonly rollout_correction: RolloutCorrectionFields
}

const FILTER_METRICS: Readonly<Record<FilterMetric, string>> = {
  acc: 'acc (right or wrong)',
  score: 'score (also in part, where the task says so)',
  seq_reward: 'seq_reward (with the overlong penalty)',
  seq_final_reward: 'seq_final_reward (with all penalties)',
}

/** verl's `algorithm` section, and what is taken off rewards. */
export const ALGORITHM: Tree<AlgorithmFields> = {
  gamma: number({
    label: 'Discount',
    live: true,
    help: 'What a reward one token later is worth now; 1 = as much.',
    default: 1,
    min: 0,
    max: 1,
    step: 0.01,
  }),
  lam: number({
    label: 'Lambda',
    live: true,
    help: 'How far GAE trusts rewards rather than the critic; 1 = rewards alone.',
    default: 1,
    min: 0,
    max: 1,
    step: 0.01,
  }),
  norm_adv_by_std_in_grpo: boolean({
    label: 'Normalise by spread',
    help: 'Whether a group’s advantages are divided by the standard deviation of its rewards: TRL’s scale_rewards group or none; its batch is an estimator of its own.',
    default: true,
  }),
  norm_adv_epsilon: number({
    label: 'Added to the spread',
    live: true,
    help: 'Added to that standard deviation before it divides; TRL adds 0.0001.',
    default: NORM_ADV_EPSILON,
    min: 1e-8,
    max: 1,
    scale: 'log',
    unit: 'reward',
  }),
  use_kl_in_reward: boolean({
    label: 'KL in the reward',
    help: 'Whether the KL to the policy that reinforcement learning began with is taken off the reward of every token.',
    default: false,
  }),
  opd_kl_coef: number({
    label: 'KL to the teacher',
    live: true,
    help: 'Weight of the sampled reverse KL to another model, taken off each token’s advantage (on-policy distillation); 0 = off.',
    default: 0,
    min: 0,
    max: 100,
    step: 0.1,
  }),
  use_task_rewards: boolean({
    label: 'Rewards beside it',
    help: 'Whether advantages come from the rewards too, or from the teacher alone.',
    default: true,
  }),
  kl_penalty: klPenalty,
  kl_at_last_token: boolean({
    label: 'All of it at the last token',
    help: 'Whether the KL of a whole response is taken off the reward of its last token, as some codes for RLHF do, instead of each token’s off its own; verl has no such option.',
    default: false,
  }),
  kl_ctrl: {
    type: select(
      {
        label: 'Coefficient',
        help: 'Whether the weight of the KL in the reward stays or follows the KL that it causes.',
      },
      { fixed: 'fixed', adaptive: 'adaptive' },
    ),
    kl_coef: klCoef(
      'Weight in the reward',
      'Weight of the KL in the reward; where it is adaptive, the first one.',
      0.001,
    ),
    target_kl: number({
      label: 'Target KL',
      live: true,
      help: 'The KL that the adaptive weight steers to.',
      default: 0.1,
      min: 0,
      max: 100,
      step: 0.01,
      unit: 'nats per token',
    }),
    horizon: integer({
      label: 'Horizon',
      live: true,
      help: 'How slowly the adaptive weight changes: by at most a fifth in this many responses.',
      default: 10000,
      min: 1,
      max: 10000000,
      unit: 'responses',
      scale: 'log',
    }),
  },
  rollout_correction: ROLLOUT_CORRECTION,
  overlong_buffer: {
    len: integer({
      label: 'Overlong buffer',
      help: 'How many tokens before the longest response its reward begins to fall; none = off.',
      default: null,
      none: 0,
      min: 1,
      max: MAX_RESPONSE_LENGTH,
      unit: 'tokens',
    }),
    penalty_factor: number({
      label: 'Overlong penalty',
      live: true,
      help: 'What a response of the longest length loses.',
      default: 1,
      min: 0,
      max: 100,
      step: 0.1,
      unit: 'reward',
    }),
  },
  mask_truncated_completions: boolean({
    label: 'Leave truncated responses out',
    help: 'Whether responses that did not end within the longest response are left out of the update, while their rewards still count in their groups: DAPO’s overlong filtering.',
    default: false,
    elsewhere: {
      trl: 'mask_truncated_completions',
      refused: 'it trains on responses that did not end',
    },
  }),
  filter_groups: {
    enable: boolean({
      label: 'Dynamic sampling',
      help: 'Whether prompts whose responses all score the same are left out and others drawn in their place (DAPO).',
      default: false,
    }),
    metric: select(
      {
        label: 'Same score by',
        help: 'What has to differ between the responses to a prompt for it to be trained on.',
      },
      FILTER_METRICS,
    ),
    max_num_gen_batches: integer({
      label: 'Batches drawn at most',
      help: 'How many batches a step may draw; when they do not hold enough prompts of different scores, others fill up.',
      default: 10,
      min: 1,
      max: 100,
      unit: 'batches',
    }),
  },
  balance_batch: boolean({
    label: 'Balance the batch',
    help: 'Whether responses are put in an order of even lengths before they are cut into mini-batches.',
    default: false,
  }),
  shuffle_scores: boolean({
    label: 'Shuffle scores',
    help: 'Whether a prompt’s responses get one another’s scores at random: a control, without anything to learn.',
    default: false,
  }),
}

const { rollout_correction, ...usual } = defaultsOf(ALGORITHM)
export const ALGORITHM_DEFAULTS: Algorithm = {
  ...usual,
  rollout_correction: engineCorrection(rollout_correction),
}
