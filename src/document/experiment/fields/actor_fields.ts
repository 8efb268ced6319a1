// The fields of the actor: its mini-batches, its loss and its optimizer, with verl's names and
// defaults.
import { ACTOR_DEFAULTS, type Actor, type EntropyOf } from '../../../rl/config/actor.ts'
import type { Optim } from '../../../rl/config/optim.ts'
import { numbersAsSettings } from '../../../rl/losses/losses.ts'
import { boolean, integer, number, select, type Tree } from './field.ts'
import { klCoef, klLossType } from './kl_fields.ts'
import { lossAggMode, lossMode } from './loss_fields.ts'
import { gradClip, optim } from './optim_fields.ts'

/** The engine's actor; where that has null, an experiment has 0. */
export type ActorFields = Omit<
  Actor,
  'loss_scale_factor' | 'ppo_micro_batch_size_per_gpu' | 'optim'
> & {
  readonly entropy_of: EntropyOf
  /** 0 = the longest response. */
  readonly loss_scale_factor: number
  /** 0 = as many as fit. */
  readonly ppo_micro_batch_size_per_gpu: number
  readonly optim: Required<Optim>
}

/** verl's `actor` section, with its KL in the loss. */
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
    help: 'How many times the policy is trained on each batch.',
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
  loss_mode: lossMode,
  ...numbersAsSettings(({ section, is_share, ...said }) => number({ live: true, ...said })),
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
    default: ACTOR_DEFAULTS.use_kl_loss,
  }),
  kl_loss_coef: klCoef(
    'Weight in the loss',
    'Weight of that KL in the loss; 0 = it is only measured.',
    ACTOR_DEFAULTS.kl_loss_coef,
  ),
  kl_loss_type: klLossType,
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
