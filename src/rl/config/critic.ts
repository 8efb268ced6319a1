// Declares how a phase of reinforcement updates the critic.
import type { LossAggMode } from '../../kernels/policy_loss/aggregations/aggregations.ts'
import { integer, number, select, type Tree } from '../fields/field.ts'
import { lossAggMode } from './loss_fields.ts'
import type { Optim } from './optim.ts'
import { gradClip, optim } from './optim.ts'

/** The value model of GAE; verl's `critic` block. Micro-batches are the actor's. */
export interface Critic {
  /** Prompts per optimizer step; null = the actor's, as verl's configuration refers to it. */
  readonly ppo_mini_batch_size: number | null
  /** Null = the actor's. */
  readonly ppo_epochs: number | null
  /** The first step with a critic, counted from 1, in which the actor learns too; verl's
   * trainer.critic_warmup. So 0 and 1 leave none to the critic alone. */
  readonly critic_warmup: number
  /** What it starts from: the policy with a new score, or the reward model of an earlier phase with
   * its score. */
  readonly model: { readonly init: 'actor' | 'reward_model' }
  readonly cliprange_value: number
  readonly loss_agg_mode: LossAggMode
  readonly grad_clip: number
  readonly optim: Optim
}

/** verl's `critic` section. */
export const CRITIC: Tree<Critic> = {
  critic_warmup: integer({
    label: 'Critic alone',
    help: 'The first step, counted from 1, in which the actor learns too; 0 and 1 = from the start.',
    default: 0,
    min: 0,
    max: 10000,
    unit: 'steps',
  }),
  model: {
    init: select(
      {
        label: 'Begins as',
        help: 'What the critic is at its first step: a copy of the policy with a new score, or the reward model of an earlier phase with its score.',
      },
      { actor: 'the policy', reward_model: 'the reward model' },
    ),
  },
  ppo_mini_batch_size: integer({
    label: 'Mini-batch',
    help: 'Prompts per optimizer step of the critic; none = the actor’s.',
    default: null,
    none: 0,
    min: 1,
    max: 1024,
    unit: 'prompts',
  }),
  ppo_epochs: integer({
    label: 'Epochs',
    help: 'How many times the critic is trained on each batch; none = as often as the actor.',
    default: null,
    none: 0,
    min: 1,
    max: 8,
    unit: 'epochs',
  }),
  cliprange_value: number({
    label: 'Value clip',
    live: true,
    help: 'How far a value may move from its old one before the move stops being rewarded.',
    default: 0.5,
    min: 0.001,
    max: 100,
    scale: 'log',
    unit: 'reward',
  }),
  loss_agg_mode: lossAggMode,
  grad_clip: gradClip,
  optim: optim({ lr: 1e-5, lr_warmup_steps: 0, betas: [0.9, 0.999], weight_decay: 0.01 }),
}
