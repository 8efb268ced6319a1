// What a phase of an experiment is once every default is filled in: the trainer's whole configuration.
import type { CacheDType } from '../../kernels/attention/attention_cache.ts'
import type { KlPenalty } from '../../kernels/kl/kl_penalty.ts'
import type { LossAggMode, LossMode } from '../../kernels/policy_loss/loss_modes.ts'
import type { AdvantageConfig, AdvEstimator } from '../estimators/advantages.ts'
import type { KlControllerConfig } from '../experience/kl.ts'
import type { RolloutCorrection } from '../experience/rollout_correction.ts'
import type { FilterGroups } from './filter_groups.ts'
import type { OverlongBuffer } from './overlong.ts'
import type { TrainedPart } from './trained_segments.ts'

/** AdamW and its learning-rate schedule; verl's `optim` block. */
export interface Optim {
  /** Peak learning rate. */
  readonly lr: number
  /** Steps from 0 to the peak; step 0 of a warm-up has rate 0, as in verl. Below 0 = by `lr_warmup_steps_ratio`. */
  readonly lr_warmup_steps: number
  /** Warm-up as a share of all steps of the schedule, cut off to whole steps; default 0. */
  readonly lr_warmup_steps_ratio?: number
  readonly lr_scheduler_type: 'constant' | 'cosine'
  /** Floor of the cosine, as a share of `lr`. */
  readonly min_lr_ratio: number
  readonly betas: readonly [number, number]
  readonly weight_decay: number
}

/** How responses are sampled. */
export interface Rollout {
  /** N: prompts per step. */
  readonly train_batch_size: number
  /** G: responses per prompt; B = N · G rows. */
  readonly n: number
  readonly temperature: number
  /** 1 = off. */
  readonly top_p: number
  /** -1 = off. */
  readonly top_k: number
  /** R: tokens generated at most, end token included. */
  readonly max_response_length: number
  /** What the KV cache holds: halves take half the memory, and make the sampled policy differ from the trained one by rounding. */
  readonly dtype?: CacheDType
  /** Compare the sampler's log-probs with those that are trained on, and do nothing about it; verl's, default false. */
  readonly calculate_log_probs?: boolean
}

/** What clip_cov and kl_cov need beside the clip range; verl's `policy_loss` block. */
export interface PolicyLossConfig {
  /** Share of a micro-batch's tokens whose loss clip_cov leaves out. */
  readonly clip_cov_ratio: number
  /** Only tokens with a covariance between these are left out. */
  readonly clip_cov_lb: number
  readonly clip_cov_ub: number
  /** Share of tokens that kl_cov penalises. */
  readonly kl_cov_ratio: number
  /** Coefficient of that penalty. */
  readonly ppo_kl_coef: number
}

export interface Actor {
  /** Prompts per optimizer step; times G rows. */
  readonly ppo_mini_batch_size: number
  readonly ppo_epochs: number
  /**
   * Whether every epoch cuts its mini-batches from another order of the responses; the critic's too. verl's legacy worker
   * knows no such thing (shufflesRows).
   */
  readonly shuffle: boolean
  readonly clip_ratio_low: number
  readonly clip_ratio_high: number
  /** Dual clip: for negative advantages the loss is at most -A · c. */
  readonly clip_ratio_c: number
  /** bypass_mode is chosen by rollout_correction. */
  readonly loss_mode: LossMode
  readonly loss_agg_mode: LossAggMode
  /** Divisor of seq-mean-token-sum-norm; null = R. */
  readonly loss_scale_factor: number | null
  readonly policy_loss: PolicyLossConfig
  /** sapo: sharpness of its gate for positive and negative advantages. */
  readonly tau_pos: number
  readonly tau_neg: number
  readonly entropy_coeff: number
  /** KL to the reference policy as a term of the loss. */
  readonly use_kl_loss: boolean
  readonly kl_loss_coef: number
  readonly kl_loss_type: KlPenalty
  /** Rows per forward and backward; null = as many as fit. */
  readonly ppo_micro_batch_size_per_gpu: number | null
  /**
   * verl's two rules for micro-batches. 'disable' (its engine worker): every micro-batch is divided by the tokens and
   * sequences of the whole mini-batch. 'enable' (its legacy worker): each by its own, and the results are averaged.
   */
  readonly use_legacy_worker_impl: 'disable' | 'enable'
  /** Largest global gradient norm. */
  readonly grad_clip: number
  readonly optim: Optim
}

/** verl's defaults of what an experiment need not say. */
export const ACTOR_DEFAULTS = {
  shuffle: false,
  loss_mode: 'vanilla',
  loss_agg_mode: 'token-mean',
  loss_scale_factor: null,
  policy_loss: {
    clip_cov_ratio: 0.0002,
    clip_cov_lb: 1,
    clip_cov_ub: 5,
    kl_cov_ratio: 0.0002,
    ppo_kl_coef: 0.1,
  },
  tau_pos: 1,
  tau_neg: 1.05,
  entropy_coeff: 0,
  use_kl_loss: false,
  kl_loss_coef: 0.001,
  kl_loss_type: 'low_var_kl',
  ppo_micro_batch_size_per_gpu: null,
  use_legacy_worker_impl: 'disable',
} as const satisfies Partial<Actor>

/** The value model of GAE; verl's `critic` block. Micro-batches are the actor's. */
export interface Critic {
  /** Prompts per optimizer step; null = the actor's, as verl's configuration refers to it. */
  readonly ppo_mini_batch_size: number | null
  /** Null = the actor's. */
  readonly ppo_epochs: number | null
  /**
   * The first step with a critic, counted from 1, in which the actor learns too; verl's trainer.critic_warmup. So 0 and 1
   * leave none to the critic alone.
   */
  readonly critic_warmup: number
  /** What it begins as: the policy under a score of its own, or the reward model of an earlier phase with its score. */
  readonly model: { readonly init: 'actor' | 'reward_model' }
  readonly cliprange_value: number
  readonly loss_agg_mode: LossAggMode
  readonly grad_clip: number
  readonly optim: Optim
}

export const CRITIC_DEFAULTS: Critic = {
  ppo_mini_batch_size: null,
  ppo_epochs: null,
  critic_warmup: 0,
  model: { init: 'actor' },
  cliprange_value: 0.5,
  loss_agg_mode: 'token-mean',
  grad_clip: 1,
  optim: {
    lr: 1e-5,
    lr_warmup_steps: 0,
    lr_warmup_steps_ratio: 0,
    lr_scheduler_type: 'constant',
    min_lr_ratio: 0,
    betas: [0.9, 0.999],
    weight_decay: 0.01,
  },
}

export interface Algorithm extends Required<Pick<AdvantageConfig, 'gamma' | 'lam'>> {
  readonly norm_adv_by_std_in_grpo: boolean
  /** KL to the reference policy taken off the rewards. */
  readonly use_kl_in_reward: boolean
  readonly kl_penalty: KlPenalty
  /** Take the KL of a whole response off the reward of its last token, where verl takes each token's off its own. Not verl's. */
  readonly kl_at_last_token: boolean
  readonly kl_ctrl: KlControllerConfig
  readonly rollout_correction: RolloutCorrection
  /** DAPO's penalty for responses close to the maximum length; null = none. */
  readonly overlong_buffer: Omit<OverlongBuffer, 'max_resp_len'> | null
  /** DAPO's dynamic sampling. */
  readonly filter_groups: FilterGroups
  /** Reorder the rows of a batch by length before it is cut into mini-batches, as verl does by default. */
  readonly balance_batch: boolean
}

export const ALGORITHM_DEFAULTS: Algorithm = {
  gamma: 1,
  lam: 1,
  norm_adv_by_std_in_grpo: true,
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

/** What ends a phase before its steps are over (stop.ts); 0 = off. */
export interface Stop {
  /** Held-out greedy accuracy of at least this. */
  readonly accuracy: number
  /** Mean score of a step's responses of at least this. */
  readonly score: number
  /** Steps whose mean score is compared with that of as many before them. */
  readonly plateau_steps: number
  /** The gain between the two that counts as none. */
  readonly plateau_delta: number
  /** Entropy of the trained policy below this, nats. */
  readonly entropy_floor: number
}

export const STOP_DEFAULTS: Stop = {
  accuracy: 0,
  score: 0,
  plateau_steps: 0,
  plateau_delta: 0.01,
  entropy_floor: 0,
}

/** Whether any condition is on. Such a phase waits for the numbers of every step before it queues the next. */
export const hasStop = (stop: Stop | undefined): stop is Stop =>
  stop !== undefined &&
  (stop.accuracy > 0 || stop.score > 0 || stop.plateau_steps > 0 || stop.entropy_floor > 0)

export type StopReason = 'accuracy' | 'score' | 'plateau' | 'entropy_floor'

/** Why a phase began: the run did, or what ended the one before it. */
export const PHASE_REASONS = [
  'start',
  'steps',
  'next_phase',
  'insert_phase',
  'accuracy',
  'score',
  'plateau',
  'entropy_floor',
] as const satisfies readonly ('start' | 'steps' | 'next_phase' | 'insert_phase' | StopReason)[]
export type PhaseReason = (typeof PHASE_REASONS)[number]

/** Supervised warm start on the task's demonstrations: mean cross-entropy over answer and end token. */
export interface SftPhase {
  readonly kind: 'sft'
  readonly name: string
  readonly steps: number
  /** Demonstrations per step. */
  readonly batch_size: number
  readonly grad_clip: number
  readonly optim: Optim
  readonly stop?: Stop
}

/**
 * What a person said of the pair of responses that was next in line: which one is better, or nothing (skip); undo takes back
 * what was said last.
 */
export interface Verdict {
  readonly choice: 'a' | 'b' | 'skip' | 'undo'
  /** Steps of the phase that were taken before it was given. */
  readonly step: number
}

/** Where the pairs of a reward model come from. */
export interface Pairs {
  /** The task's own score; a person; or the task at once and a person as the verdicts come. */
  readonly source: 'judge' | 'human' | 'mixed'
  /** Pairs to train on at most, of each source. */
  readonly count: number
  /** Further pairs that accuracy is measured on, with prompts of their own. Of a person's prompts every fourth is held out. */
  readonly held_out: number
  /** What the policy samples both responses with. */
  readonly temperature: number
  /** A person's verdicts that training waits for; source human alone. */
  readonly min_pairs: number
  /** What a person said in an earlier run, in order; not empty = nobody is asked. */
  readonly verdicts: readonly Verdict[]
}

/** Training of a reward model, which begins as a copy of the policy's transformer under a new score. */
export interface RewardModelPhase {
  readonly kind: 'reward_model'
  readonly name: string
  readonly steps: number
  /** Pairs per step. */
  readonly batch_size: number
  readonly grad_clip: number
  readonly optim: Optim
  readonly pairs: Pairs
}

/** Reinforcement learning of one layer's policy; the last layer's is the model's own. */
export interface RlPhase extends TrainedPart {
  readonly kind: 'rl'
  readonly name: string
  readonly steps: number
  readonly adv_estimator: AdvEstimator
  /** Blocks applied before the unembedding, 1…L; L is the final policy (with the final norm). */
  readonly target_layer: number
  /** The actor's moments and step counts start from zero where this phase begins. */
  readonly reset_optimizer?: boolean
  /** Warm-up and decay of the learning rate start at zero where this phase begins; otherwise they continue. */
  readonly reset_schedule?: boolean
  readonly rollout: Rollout
  readonly actor: Actor
  /** Used by estimators that need values (gae). */
  readonly critic: Critic
  readonly algorithm: Algorithm
  /** Whether responses are scored by the reward model of an earlier phase instead of by the task; verl's reward_model.enable. */
  readonly reward_model: { readonly enable: boolean }
  readonly stop?: Stop
}

/** Phases that train the policy. */
export type ActorPhase = SftPhase | RlPhase
export type Phase = ActorPhase | RewardModelPhase

export const trainsActor = (phase: Phase): phase is ActorPhase => phase.kind !== 'reward_model'

/** verl's `data` block. */
export interface Data {
  /** Problems of the finite set, the first ones of the task's training problems; -1 = none: every draw is from all of them. */
  readonly train_max_samples: number
  /** Whether every pass over the set has an order of its own; without, all have the same. Endless draws are random anyway. */
  readonly shuffle: boolean
}

export const DATA_DEFAULTS: Data = { train_max_samples: -1, shuffle: true }

/** Whether training goes through a finite set. */
export const hasSet = ({ train_max_samples }: Data): boolean => train_max_samples > 0

/** Steps of one pass: whole batches alone, as verl's data loader with drop_last; 0 where there is no set, or a smaller one. */
export const stepsPerEpoch = ({ train_max_samples }: Data, batch_size: number): number =>
  Math.max(0, Math.floor(train_max_samples / batch_size))

/** Held-out evaluation. */
export interface Validation {
  /** Every so many steps of any phase, and after the last of each; 0 = never. */
  readonly test_freq: number
  /** Held-out prompts; never more than the task holds out (validationPrompts). */
  readonly prompts: number
  /** Sampled responses per held-out prompt; greedy decoding is one more. */
  readonly n: number
  /** What divides the logits of sampled responses; verl's val_kwargs.temperature. 0, the default: the last rl phase's own. */
  readonly temperature?: number
  /** Whether the model is evaluated before its first step. auto, the default: where later steps are. */
  readonly val_before_train?: 'auto' | 'enable' | 'disable'
  /** Greedy responses of each evaluation that it hands over as text, and as many sampled ones; default 0. */
  readonly log_val_generations?: number
}

/** Prompts of an evaluation: each held-out problem at most once. */
export const validationPrompts = (
  { prompts }: Pick<Validation, 'prompts'>,
  { test_size }: { readonly test_size: number },
): number => Math.min(prompts, test_size)

/** Whether step 0 is evaluated. */
export const validatesBefore = ({
  val_before_train = 'auto',
  test_freq,
}: Pick<Validation, 'val_before_train' | 'test_freq'>): boolean =>
  val_before_train === 'auto' ? test_freq > 0 : val_before_train === 'enable'

/** Whether any step is evaluated. */
export const everValidates = (
  validation: Pick<Validation, 'val_before_train' | 'test_freq'>,
): boolean => validation.test_freq > 0 || validatesBefore(validation)

/** How much of each step's batch the per-layer entropies are measured on. */
export interface Probe {
  /** Every so many steps; 0 = never. */
  readonly freq: number
  /** Rows of the batch. */
  readonly rows: number
  /** Measure the entropy changes of every layer's modules too, on steps that validate (layer_changes.ts); default false. */
  readonly internals?: boolean
}
