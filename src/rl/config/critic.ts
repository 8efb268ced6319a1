// How a phase of reinforcement updates the critic.
import type { LossAggMode } from '../../kernels/policy_loss/aggregations/aggregations.ts'
import type { Optim } from './optim.ts'

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
    decay_norms: true,
  },
}
