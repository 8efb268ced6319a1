// The fields of the critic, with verl's names and defaults.
import { CRITIC_DEFAULTS, type Critic } from '../../../rl/config/critic.ts'
import type { Optim } from '../../../rl/config/optim.ts'
import { integer, number, select, type Tree } from './field.ts'
import { lossAggMode } from './loss_fields.ts'
import { gradClip, optim } from './optim_fields.ts'

/** The engine's critic; where that has null, an experiment has 0. */
export type CriticFields = Omit<Critic, 'ppo_mini_batch_size' | 'ppo_epochs' | 'optim'> & {
  /** 0 = the actor's. */
  readonly ppo_mini_batch_size: number
  readonly ppo_epochs: number
  readonly optim: Required<Optim>
}

/** verl's `critic` section. */
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
        help: 'What the critic is at its first step: a copy of the policy with a new score, or the reward model of an earlier phase with its score.',
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
    help: 'How many times the critic is trained on each batch; 0 = as often as the actor.',
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
