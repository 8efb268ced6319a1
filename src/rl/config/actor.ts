// Declares how a phase of reinforcement updates the policy.
import type { KlPenalty } from '../../kernels/kl/kl_penalty.ts'
import type { LossAggMode } from '../../kernels/policy_loss/aggregations/aggregations.ts'
import { boolean, defaultsOf, integer, number, select, type Tree } from '../fields/field.ts'
import { klCoef, klLossType } from '../fields/kl_fields.ts'
import { type LossMode, type LossSettings, numbersAsSettings } from '../losses/losses.ts'
import type { SamplingLevel } from '../losses/sequence_level.ts'
import { INNER, type Inner } from './inner.ts'
import { lossAggMode, lossMode, samplingLevel } from './loss_fields.ts'
import type { Optim } from './optim.ts'
import { gradClip, optim } from './optim.ts'

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
  /** Whether a ratio is that of its token or of the whole response, where the loss has a choice;
   * TRL's name. */
  readonly importance_sampling_level: SamplingLevel
  readonly loss_agg_mode: LossAggMode
  /** Divisor of seq-mean-token-sum-norm; null = R. */
  readonly loss_scale_factor: number | null
  /** The share of tokens, those of the highest entropy in the micro-batch, that the policy loss and
   * the entropy bonus are about; 1 = all. TRL's name. */
  readonly top_entropy_quantile: number
  readonly entropy_coeff: number
  /** Whether the weight of the bonus follows a target of the entropy; entropy_coeff is then the
   * first one. TRL's names. */
  readonly use_adaptive_entropy: boolean
  /** Mean entropy per token in nats. */
  readonly entropy_target: number
  /** What the weight changes by after every step. */
  readonly entropy_coef_delta: number
  readonly entropy_coef_min: number
  readonly entropy_coef_max: number
  /**
   * Whose entropy the bonus is of in a phase of an inner layer: that of the policy being trained,
   * or of the whole model's, whose
   * gradient reaches every layer and the final norm, as in BuPO's fork of verl. Default
   * target_layer.
   */
  readonly entropy_of: EntropyOf
  /** KL to the reference policy as a term of the loss. */
  readonly use_kl_loss: boolean
  readonly kl_loss_coef: number
  readonly kl_loss_type: KlPenalty
  /** Whether the reference follows the policy: after every ref_model_sync_steps optimizer steps of
   * the phase it becomes ref_model_mixup_alpha · policy + the rest · itself. TRL's names. */
  readonly sync_ref_model: boolean
  readonly ref_model_mixup_alpha: number
  readonly ref_model_sync_steps: number
  /** Inner layers that learn along. Default: none. */
  readonly inner: Inner
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

/** What decides whether an objective has a bonus for entropy, and for whose. */
export type EntropyBonus = Pick<Actor, 'entropy_coeff' | 'entropy_of' | 'use_adaptive_entropy'>

/** Whether a loss rewards entropy, or may come to. */
export const hasBonus = ({
  entropy_coeff,
  use_adaptive_entropy,
}: Omit<EntropyBonus, 'entropy_of'>): boolean => entropy_coeff !== 0 || use_adaptive_entropy

/** Whether a phase of an inner layer has a bonus for the entropy of the whole model's policy. */
export const hasFinalEntropy = (
  {
    target_layer,
    actor,
  }: {
    readonly target_layer: number
    readonly actor?: EntropyBonus | undefined
  },
  layers: number,
): boolean => target_layer < layers && actor?.entropy_of === 'final' && hasBonus(actor)

const entropyNumber = (
  said: Omit<Parameters<typeof number>[0], 'min' | 'none'> & { default: number },
) => number({ live: true, min: 0, ...said })

/** verl's `actor` section, with its KL in the loss. */
export const ACTOR: Tree<Actor> = {
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
    help: 'How many times the policy is trained on each batch.',
    default: 1,
    min: 1,
    max: 8,
    unit: 'epochs',
  }),
  shuffle: boolean({
    label: 'Shuffle',
    help: 'Whether every epoch cuts its mini-batches from another order of the responses, the critic’s too.',
    default: false,
  }),
  loss_mode: lossMode,
  ...numbersAsSettings(({ section, isShare, ...said }) => number({ live: true, ...said })),
  importance_sampling_level: samplingLevel,
  loss_agg_mode: lossAggMode,
  loss_scale_factor: number({
    label: 'Constant',
    live: true,
    help: 'What token sums are divided by; none = the longest response.',
    default: null,
    none: 0,
    min: 0.000001,
    max: 100000,
    step: 1,
    unit: 'tokens',
  }),
  top_entropy_quantile: number({
    label: 'Share of uncertain tokens',
    live: true,
    help: 'The loss is about this share of the tokens that go through the model at once, those where the policy is least sure; 1 = all, and 0.2 is known as the 80/20 rule.',
    default: 1,
    min: 0.01,
    max: 1,
    step: 0.05,
    elsewhere: { trl: 'top_entropy_quantile', refused: 'it trains on all tokens' },
  }),
  entropy_coeff: number({
    label: 'Entropy bonus',
    live: true,
    help: 'Weight of the entropy that is added to the objective; 0 = off.',
    default: 0,
    min: 0,
    max: 1,
    step: 0.001,
  }),
  use_adaptive_entropy: boolean({
    label: 'Entropy target',
    help: 'Whether the weight of the entropy bonus follows a target: it grows while the entropy is at or below the target, falls while it is above, and acts only at or below it (Skywork-OR1). It begins with the entropy bonus.',
    default: false,
  }),
  entropy_target: entropyNumber({
    label: 'Target',
    help: 'The entropy of the policy that sampled, at which the bonus begins to act.',
    default: 0.2,
    max: 20,
    step: 0.05,
    unit: 'nats per token',
    elsewhere: { trl: 'entropy_target', lost: 'its entropy bonus has a constant weight' },
  }),
  entropy_coef_delta: entropyNumber({
    label: 'Change per step',
    help: 'What the weight of the bonus grows or falls by after every step.',
    default: 0.005,
    max: 1,
    step: 0.001,
    elsewhere: { trl: 'entropy_coef_delta', lost: 'its entropy bonus has a constant weight' },
  }),
  entropy_coef_min: entropyNumber({
    label: 'Least weight',
    help: 'The weight of the bonus never falls below this.',
    default: 0,
    max: 1,
    step: 0.001,
    elsewhere: { trl: 'entropy_coef_min', lost: 'its entropy bonus has a constant weight' },
  }),
  entropy_coef_max: entropyNumber({
    label: 'Largest weight',
    help: 'The weight of the bonus never grows above this.',
    default: 1,
    max: 1,
    step: 0.01,
    elsewhere: { trl: 'entropy_coef_max', lost: 'its entropy bonus has a constant weight' },
  }),
  entropy_of: select(
    {
      label: 'Entropy of',
      help: 'Whose entropy the bonus of an inner phase is of; that of the whole model trains every layer, as in BuPO’s fork of verl.',
    },
    { target_layer: 'the trained layer', final: 'the whole model' },
  ),
  use_kl_loss: boolean({
    label: 'KL in the loss',
    help: 'Whether the KL to the policy that reinforcement learning began with is added to the loss.',
    default: false,
  }),
  kl_loss_coef: klCoef(
    'Weight in the loss',
    'Weight of that KL in the loss; 0 = it is only measured.',
    0.001,
  ),
  kl_loss_type: klLossType,
  sync_ref_model: boolean({
    label: 'Reference follows',
    help: 'Whether the reference of the KL is mixed with the policy every few updates, so that the policy may go on moving; else it stays what reinforcement learning began with.',
    default: false,
    elsewhere: { trl: 'sync_ref_model', refused: 'its reference stays as it was' },
  }),
  ref_model_mixup_alpha: number({
    label: 'Share of the policy',
    live: true,
    help: 'Share of the policy in the mixture that becomes the reference; 1 = a copy of the policy.',
    default: 0.6,
    min: 0.001,
    max: 1,
    step: 0.05,
    elsewhere: { trl: 'ref_model_mixup_alpha', lost: 'its reference stays as it was' },
  }),
  ref_model_sync_steps: integer({
    label: 'Mixed every',
    live: true,
    help: 'Updates of the phase after which the reference is mixed with the policy.',
    default: 512,
    min: 1,
    max: 1000000,
    unit: 'updates',
    scale: 'log',
    elsewhere: { trl: 'ref_model_sync_steps', lost: 'its reference stays as it was' },
  }),
  inner: INNER,
  ppo_micro_batch_size_per_gpu: integer({
    label: 'Micro-batch',
    help: 'Responses that go through the model at once; none = as many as fit.',
    default: null,
    none: 0,
    min: 1,
    max: 65536,
    unit: 'responses',
  }),
  use_legacy_worker_impl: select(
    {
      label: 'Several micro-batches',
      help: 'Which of verl’s two rules divides the loss of a mini-batch that is cut into micro-batches.',
    },
    { disable: 'by the whole mini-batch', enable: 'each by itself (legacy worker; TRL: bnpo)' },
  ),
  grad_clip: gradClip,
  optim: optim({ lr: 0.0001, lr_warmup_steps: 10, betas: [0.9, 0.95], weight_decay: 0 }),
}

/** verl's defaults of what an experiment may leave out. */
export const ACTOR_DEFAULTS: Actor = defaultsOf(ACTOR)
