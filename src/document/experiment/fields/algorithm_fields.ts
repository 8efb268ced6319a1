// The fields that turn rewards into advantages, with verl's names and defaults.

import { ALGORITHM_DEFAULTS, type Algorithm } from '../../../rl/config/algorithm.ts'
import type { FilterMetric } from '../../../rl/config/filter_groups.ts'
import { boolean, integer, number, select, type Tree } from './field.ts'
import { klCoef, klPenalty } from './kl_fields.ts'
import { ROLLOUT_CORRECTION, type RolloutCorrectionFields } from './rollout_correction_fields.ts'
import { MAX_RESPONSE_LENGTH } from './rollout_fields.ts'

/** The engine's algorithm; where that has null, an experiment has 'off', '' or a length of 0. */
export type AlgorithmFields = Omit<Algorithm, 'rollout_correction' | 'overlong_buffer'> & {
  readonly rollout_correction: RolloutCorrectionFields
  /** len 0 = none. */
  readonly overlong_buffer: { readonly len: number; readonly penalty_factor: number }
}

const kl_ctrl = ALGORITHM_DEFAULTS.kl_ctrl

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
    default: ALGORITHM_DEFAULTS.gamma,
    min: 0,
    max: 1,
    step: 0.01,
  }),
  lam: number({
    label: 'Lambda',
    live: true,
    help: 'How far GAE trusts rewards rather than the critic; 1 = rewards alone.',
    default: ALGORITHM_DEFAULTS.lam,
    min: 0,
    max: 1,
    step: 0.01,
  }),
  norm_adv_by_std_in_grpo: boolean({
    label: 'Normalise by spread',
    help: 'Whether a group’s advantages are divided by the standard deviation of its rewards.',
    default: ALGORITHM_DEFAULTS.norm_adv_by_std_in_grpo,
  }),
  norm_adv_epsilon: number({
    label: 'Added to the spread',
    live: true,
    help: 'Added to that standard deviation before it divides; TRL adds 0.0001.',
    default: ALGORITHM_DEFAULTS.norm_adv_epsilon,
    min: 1e-8,
    max: 1,
    scale: 'log',
    unit: 'reward',
  }),
  use_kl_in_reward: boolean({
    label: 'KL in the reward',
    help: 'Whether the KL to the policy that reinforcement learning began with is taken off the reward of every token.',
    default: ALGORITHM_DEFAULTS.use_kl_in_reward,
  }),
  kl_penalty: klPenalty,
  kl_at_last_token: boolean({
    label: 'All of it at the last token',
    help: 'Whether the KL of a whole response is taken off the reward of its last token, as some codes for RLHF do, instead of each token’s off its own; verl has no such option.',
    default: ALGORITHM_DEFAULTS.kl_at_last_token,
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
      kl_ctrl.kl_coef,
    ),
    target_kl: number({
      label: 'Target KL',
      live: true,
      help: 'The KL that the adaptive weight steers to.',
      default: kl_ctrl.target_kl,
      min: 0,
      max: 100,
      step: 0.01,
      unit: 'nats per token',
    }),
    horizon: integer({
      label: 'Horizon',
      live: true,
      help: 'How slowly the adaptive weight changes: by at most a fifth in this many responses.',
      default: kl_ctrl.horizon,
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
      help: 'How many tokens before the longest response its reward begins to fall; 0 = off.',
      default: 0,
      min: 0,
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
  filter_groups: {
    enable: boolean({
      label: 'Dynamic sampling',
      help: 'Whether prompts whose responses all score the same are left out and others drawn in their place (DAPO).',
      default: ALGORITHM_DEFAULTS.filter_groups.enable,
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
      default: ALGORITHM_DEFAULTS.filter_groups.max_num_gen_batches,
      min: 1,
      max: 100,
      unit: 'batches',
    }),
  },
  balance_batch: boolean({
    label: 'Balance the batch',
    help: 'Whether responses are put in an order of even lengths before they are cut into mini-batches.',
    default: ALGORITHM_DEFAULTS.balance_batch,
  }),
}
