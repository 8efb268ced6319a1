// The fields of a reinforcement phase beside its rollout: actor, critic and algorithm, with verl's names and defaults.
import type { KlPenalty } from '../../kernels/kl/kl_penalty.ts'
import type { LossAggMode, LossMode } from '../../kernels/policy_loss/loss_modes.ts'
import type { RsCriterion } from '../../kernels/rollout_correction/rollout_correction.ts'
import { ACTOR_DEFAULTS, type Actor } from '../../rl/config/actor.ts'
import {
  ALGORITHM_DEFAULTS,
  type Algorithm,
  type RolloutCorrection,
} from '../../rl/config/algorithm.ts'
import { CRITIC_DEFAULTS, type Critic } from '../../rl/config/critic.ts'
import type { FilterMetric } from '../../rl/config/filter_groups.ts'
import type { Optim } from '../../rl/config/optim.ts'
import { boolean, integer, number, select, type Tree, text } from './fields.ts'

/** The engine's actor; where that has null, an experiment has 0. */
export type ActorFields = Omit<
  Actor,
  'loss_scale_factor' | 'ppo_micro_batch_size_per_gpu' | 'optim'
> & {
  /** 0 = the longest response. */
  readonly loss_scale_factor: number
  /** 0 = as many as fit. */
  readonly ppo_micro_batch_size_per_gpu: number
  readonly optim: Required<Optim>
}

/** The engine's critic; where that has null, an experiment has 0. */
export type CriticFields = Omit<Critic, 'ppo_mini_batch_size' | 'ppo_epochs' | 'optim'> & {
  /** 0 = the actor's. */
  readonly ppo_mini_batch_size: number
  readonly ppo_epochs: number
  readonly optim: Required<Optim>
}

/** verl's algorithm.rollout_correction; where that has null, an experiment has 'off' or ''. */
export type RolloutCorrectionFields = Omit<
  RolloutCorrection,
  'rollout_is' | 'rollout_rs' | 'rollout_rs_threshold'
> & {
  readonly rollout_is: 'off' | 'token' | 'sequence'
  /** '' = off. */
  readonly rollout_rs: string
  /** '' = none. */
  readonly rollout_rs_threshold: string
}

export type AlgorithmFields = Omit<Algorithm, 'rollout_correction' | 'overlong_buffer'> & {
  readonly rollout_correction: RolloutCorrectionFields
  /** len 0 = none. */
  readonly overlong_buffer: { readonly len: number; readonly penalty_factor: number }
}

export const gradClip = number({
  label: 'Gradient clip',
  live: true,
  help: 'The largest global norm a gradient may have; a larger one is scaled down to it.',
  default: 1,
  min: 0.01,
  max: 100,
  step: 0.1,
  scale: 'log',
})

type OptimDefaults = Pick<Optim, 'lr' | 'lr_warmup_steps' | 'betas' | 'weight_decay'>

export const optim = (defaults: OptimDefaults): Tree<Required<Optim>> => ({
  lr: number({
    label: 'Learning rate',
    live: true,
    help: 'The peak step size of AdamW; too large a value breaks a run for good.',
    default: defaults.lr,
    min: 0.000001,
    max: 0.1,
    scale: 'log',
  }),
  lr_warmup_steps: integer({
    label: 'Warm-up',
    help: 'Steps in which the learning rate rises from 0 to its peak; -1 = a share of all steps.',
    default: defaults.lr_warmup_steps,
    min: -1,
    max: 10000,
    unit: 'steps',
  }),
  lr_warmup_steps_ratio: number({
    label: 'Warm-up, share',
    help: 'The warm-up as a share of the steps that its schedule runs over, cut off to whole steps.',
    default: 0,
    min: 0,
    max: 1,
    step: 0.01,
    unit: 'share of all steps',
  }),
  lr_scheduler_type: select(
    { label: 'Schedule', help: 'What the learning rate does after the warm-up.' },
    { constant: 'constant', cosine: 'cosine decay' },
  ),
  min_lr_ratio: number({
    label: 'Lowest rate',
    live: true,
    help: 'Where the cosine schedule ends, as a share of the peak.',
    default: 0,
    min: 0,
    max: 1,
    step: 0.05,
    unit: 'share of the peak',
  }),
  betas: [
    number({
      label: 'Beta 1',
      live: true,
      help: 'How long AdamW remembers past gradients.',
      default: defaults.betas[0],
      min: 0,
      max: 0.9999,
      step: 0.01,
    }),
    number({
      label: 'Beta 2',
      live: true,
      help: 'How long AdamW remembers past squared gradients.',
      default: defaults.betas[1],
      min: 0,
      max: 0.9999,
      step: 0.01,
    }),
  ],
  weight_decay: number({
    label: 'Weight decay',
    live: true,
    help: 'How strongly AdamW pulls weights towards 0, per unit of learning rate.',
    default: defaults.weight_decay,
    min: 0,
    max: 1,
    step: 0.01,
  }),
})

/** Every policy loss of the engine; the compiler keeps the list complete. */
const LOSS_MODES: Readonly<Record<LossMode, string>> = {
  vanilla: 'PPO, clipped',
  gspo: 'GSPO (one ratio per response)',
  sapo: 'SAPO (soft gate)',
  gpg: 'GPG (no ratio)',
  clip_cov: 'Clip-Cov',
  kl_cov: 'KL-Cov',
  geo_mean: 'GMPO (geometric mean)',
  cispo: 'CISPO (clipped weights)',
  reinforce: 'REINFORCE',
}

const LOSS_AGG_MODES: Readonly<Record<LossAggMode, string>> = {
  'token-mean': 'mean over tokens',
  'seq-mean-token-sum': 'mean over responses of their token sums',
  'seq-mean-token-mean': 'mean over responses of their token means',
  'seq-mean-token-sum-norm': 'token sums over a constant',
}

const KL_PENALTIES: Readonly<Record<KlPenalty, string>> = {
  kl: 'kl (k1: log ratio)',
  k1: 'k1',
  abs: 'abs (absolute log ratio)',
  mse: 'mse (k2: half the square)',
  k2: 'k2',
  low_var_kl: 'low_var_kl (k3: never negative)',
  k3: 'k3',
  'kl+': 'kl+ (k1, gradient of k2)',
  'k1+': 'k1+ (k1, gradient of k2)',
  'abs+': 'abs+ (abs, gradient of k2)',
  'mse+': 'mse+ (k2)',
  'k2+': 'k2+ (k2)',
  'low_var_kl+': 'low_var_kl+ (k3, gradient of k2)',
  'k3+': 'k3+ (k3, gradient of k2)',
}

const { low_var_kl, ...OTHER_KL_PENALTIES } = KL_PENALTIES

/** A reward has no gradient that could be another one's. */
const REWARD_KL_PENALTIES = Object.fromEntries(
  Object.entries(KL_PENALTIES).filter(([kind]) => !kind.endsWith('+')),
) as Readonly<Record<KlPenalty, string>>

const lossAggMode = select(
  { label: 'Averaging', help: 'How the losses of single tokens become one number.' },
  LOSS_AGG_MODES,
)

const covRatio = (value: number, help: string) =>
  number({
    label: 'Share of tokens',
    live: true,
    help,
    default: value,
    min: 0.000001,
    max: 1,
    scale: 'log',
    unit: 'share',
  })

const klCoef = (label: string, help: string, value: number) =>
  number({ label, help, default: value, min: 0, max: 10, step: 0.001, live: true })

export const ACTOR: Tree<ActorFields> = {
  ppo_mini_batch_size: integer({
    label: 'Mini-batch',
    help: 'Prompts per optimizer step; half of the prompts per step = two updates per batch.',
    default: 16,
    min: 1,
    max: 1024,
    unit: 'prompts',
    scale: 'log',
  }),
  ppo_epochs: integer({
    label: 'Epochs',
    help: 'How often every batch is gone through.',
    default: 1,
    min: 1,
    max: 8,
    unit: 'epochs',
  }),
  shuffle: boolean({
    label: 'Shuffle',
    help: 'Whether every epoch cuts its mini-batches from another order of the responses, the critic’s too.',
    default: ACTOR_DEFAULTS.shuffle,
  }),
  loss_mode: select(
    { label: 'Loss', help: 'Which policy-gradient loss is minimised.' },
    LOSS_MODES,
  ),
  clip_ratio_low: number({
    label: 'Clip, downwards',
    live: true,
    help: 'How far below 1 the probability ratio may fall before it stops being rewarded.',
    default: 0.2,
    min: 0.001,
    max: 0.99,
    step: 0.01,
  }),
  clip_ratio_high: number({
    label: 'Clip, upwards',
    live: true,
    help: 'How far above 1 the probability ratio may rise before it stops being rewarded.',
    default: 0.2,
    min: 0.001,
    max: 10,
    step: 0.01,
  }),
  clip_ratio_c: number({
    label: 'Dual clip',
    live: true,
    help: 'Bounds the loss of a bad response whose probability has grown, as a multiple of its advantage.',
    default: 3,
    min: 1.001,
    max: 100,
    step: 0.5,
  }),
  tau_pos: number({
    label: 'Gate, good tokens',
    live: true,
    help: 'How sharply SAPO closes its gate for tokens with a positive advantage as the ratio leaves 1.',
    default: ACTOR_DEFAULTS.tau_pos,
    min: 0.01,
    max: 100,
    scale: 'log',
  }),
  tau_neg: number({
    label: 'Gate, bad tokens',
    live: true,
    help: 'How sharply SAPO closes its gate for tokens with a negative advantage as the ratio leaves 1.',
    default: ACTOR_DEFAULTS.tau_neg,
    min: 0.01,
    max: 100,
    scale: 'log',
  }),
  policy_loss: {
    clip_cov_ratio: covRatio(
      ACTOR_DEFAULTS.policy_loss.clip_cov_ratio,
      'How many tokens of a micro-batch Clip-Cov leaves out of the gradient; always at least one.',
    ),
    clip_cov_lb: number({
      label: 'Covariance, from',
      live: true,
      help: 'Clip-Cov leaves out only tokens whose log-prob and advantage move together at least this much.',
      default: ACTOR_DEFAULTS.policy_loss.clip_cov_lb,
      min: -100,
      max: 1000,
      step: 0.1,
    }),
    clip_cov_ub: number({
      label: 'Covariance, to',
      live: true,
      help: 'Clip-Cov leaves out only tokens whose log-prob and advantage move together at most this much.',
      default: ACTOR_DEFAULTS.policy_loss.clip_cov_ub,
      min: -100,
      max: 1000,
      step: 0.1,
    }),
    kl_cov_ratio: covRatio(
      ACTOR_DEFAULTS.policy_loss.kl_cov_ratio,
      'How many tokens of a micro-batch KL-Cov penalises: those of the largest covariance, at least one.',
    ),
    ppo_kl_coef: number({
      label: 'Penalty',
      live: true,
      help: 'Weight of the KL penalty that KL-Cov puts on those tokens.',
      default: ACTOR_DEFAULTS.policy_loss.ppo_kl_coef,
      min: 0,
      max: 100,
      step: 0.1,
    }),
  },
  loss_agg_mode: lossAggMode,
  loss_scale_factor: number({
    label: 'Constant',
    live: true,
    help: 'What token sums are divided by; 0 = the longest response.',
    default: 0,
    min: 0,
    max: 100000,
    step: 1,
    unit: 'tokens',
  }),
  entropy_coeff: number({
    label: 'Entropy bonus',
    live: true,
    help: 'Weight of the entropy that is added to the objective; 0 = off.',
    default: ACTOR_DEFAULTS.entropy_coeff,
    min: 0,
    max: 1,
    step: 0.001,
  }),
  use_kl_loss: boolean({
    label: 'KL in the loss',
    help: 'Whether the KL to the policy that reinforcement learning began with is added to the loss.',
    default: ACTOR_DEFAULTS.use_kl_loss,
  }),
  kl_loss_coef: klCoef(
    'Weight in the loss',
    'Weight of that KL in the loss; 0 = it is only measured.',
    ACTOR_DEFAULTS.kl_loss_coef,
  ),
  kl_loss_type: select(
    { label: 'Estimator in the loss', help: 'How the KL in the loss is estimated per token.' },
    { low_var_kl, ...OTHER_KL_PENALTIES },
  ),
  ppo_micro_batch_size_per_gpu: integer({
    label: 'Micro-batch',
    help: 'Responses that go through the model at once; 0 = as many as fit.',
    default: 0,
    min: 0,
    max: 65536,
    unit: 'responses',
  }),
  use_legacy_worker_impl: select(
    {
      label: 'Several micro-batches',
      help: 'Which of verl’s two rules divides the loss of a mini-batch that is cut into micro-batches.',
    },
    { disable: 'by the whole mini-batch', enable: 'each by itself (legacy worker)' },
  ),
  grad_clip: gradClip,
  optim: optim({ lr: 0.0001, lr_warmup_steps: 10, betas: [0.9, 0.95], weight_decay: 0 }),
}

export const CRITIC: Tree<CriticFields> = {
  critic_warmup: integer({
    label: 'Critic alone',
    help: 'The first step, counted from 1, in which the actor learns too; 0 and 1 = from the start.',
    default: CRITIC_DEFAULTS.critic_warmup,
    min: 0,
    max: 10000,
    unit: 'steps',
  }),
  model: {
    init: select(
      {
        label: 'Begins as',
        help: 'What the critic is at its first step: a copy of the policy with a score of its own, or the reward model of an earlier phase with its score.',
      },
      { actor: 'the policy', reward_model: 'the reward model' },
    ),
  },
  ppo_mini_batch_size: integer({
    label: 'Mini-batch',
    help: 'Prompts per optimizer step of the critic; 0 = the actor’s.',
    default: 0,
    min: 0,
    max: 1024,
    unit: 'prompts',
  }),
  ppo_epochs: integer({
    label: 'Epochs',
    help: 'How often the critic goes through every batch; 0 = as often as the actor.',
    default: 0,
    min: 0,
    max: 8,
    unit: 'epochs',
  }),
  cliprange_value: number({
    label: 'Value clip',
    live: true,
    help: 'How far a value may move from its old one before the move stops being rewarded.',
    default: CRITIC_DEFAULTS.cliprange_value,
    min: 0.001,
    max: 100,
    scale: 'log',
    unit: 'reward',
  }),
  loss_agg_mode: lossAggMode,
  grad_clip: gradClip,
  optim: optim(CRITIC_DEFAULTS.optim),
}

/** Every criterion of the engine, for messages and help. */
const RS_CRITERIA: Readonly<Record<RsCriterion, true>> = {
  token_k1: true,
  token_k2: true,
  token_k3: true,
  seq_sum_k1: true,
  seq_sum_k2: true,
  seq_sum_k3: true,
  seq_mean_k1: true,
  seq_mean_k2: true,
  seq_mean_k3: true,
  seq_max_k2: true,
  seq_max_k3: true,
}

/** The parts of a list with commas. */
export const listOf = (list: string): string[] =>
  list
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')

const PLAIN_NUMBER = /^\+?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i
const isPositive = (part: string): boolean => {
  const number = PLAIN_NUMBER.test(part.trim()) ? Number(part) : 0
  return number > 0 && number < Number.POSITIVE_INFINITY
}
const isThreshold = (part: string): boolean => {
  const bounds = part.split('_')
  return bounds.length <= 2 && bounds.every(isPositive)
}

/** A list with commas, each part of which is sound, or nothing at all. */
const isListOf =
  (isSound: (part: string) => boolean) =>
  (list: string): boolean =>
    list.trim() === '' || (listOf(list).length > 0 && listOf(list).every(isSound))

const correction = ALGORITHM_DEFAULTS.rollout_correction

const ROLLOUT_CORRECTION: Tree<RolloutCorrectionFields> = {
  bypass_mode: boolean({
    label: 'Bypass mode',
    help: 'Whether the probabilities noted while sampling stand for the old policy’s, which are then not computed again.',
    default: correction.bypass_mode,
  }),
  loss_type: select(
    { label: 'Loss in bypass mode', help: 'Which loss is minimised in bypass mode.' },
    { ppo_clip: 'PPO, clipped', reinforce: 'REINFORCE' },
  ),
  rollout_is: select(
    {
      label: 'Importance weights',
      help: 'Weights that correct for sampling from another policy than the one being trained.',
    },
    { off: 'off', token: 'per token', sequence: 'per response' },
  ),
  rollout_is_threshold: number({
    label: 'Largest weight',
    help: 'Weights are cut off above this.',
    default: correction.rollout_is_threshold,
    min: 0.01,
    max: 1000,
    scale: 'log',
  }),
  rollout_is_batch_normalize: boolean({
    label: 'Normalise weights',
    help: 'Whether the weights are divided by their mean over the batch.',
    default: correction.rollout_is_batch_normalize,
  }),
  rollout_rs: text(
    {
      label: 'Rejection',
      help: `What tokens or responses must meet to be trained on, with commas (${Object.keys(RS_CRITERIA).join(', ')}); empty = off, and the threshold comes first.`,
      default: '',
      max: 120,
    },
    {
      holds: isListOf((name) => Object.hasOwn(RS_CRITERIA, name)),
      expected: `nothing or some of ${Object.keys(RS_CRITERIA).join(', ')}, with commas`,
    },
  ),
  rollout_rs_threshold: text(
    {
      label: 'Rejection threshold',
      help: 'One threshold for all criteria or one each with commas: an upper bound, for k1 also lower_upper (0.5_2).',
      default: '',
      max: 120,
    },
    {
      holds: isListOf(isThreshold),
      expected: 'nothing or numbers above 0 with commas, each one alone or as lower_upper',
    },
  ),
}

const kl_ctrl = ALGORITHM_DEFAULTS.kl_ctrl

const FILTER_METRICS: Readonly<Record<FilterMetric, string>> = {
  acc: 'acc (the task’s verdict)',
  score: 'score (the same)',
  seq_reward: 'seq_reward (with the overlong penalty)',
  seq_final_reward: 'seq_final_reward (with all penalties)',
}

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
  use_kl_in_reward: boolean({
    label: 'KL in the reward',
    help: 'Whether the KL to the policy that reinforcement learning began with is taken off the reward of every token.',
    default: ALGORITHM_DEFAULTS.use_kl_in_reward,
  }),
  kl_penalty: select(
    { label: 'Estimator in the reward', help: 'How the KL in the reward is estimated per token.' },
    REWARD_KL_PENALTIES,
  ),
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
      max: 128,
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
