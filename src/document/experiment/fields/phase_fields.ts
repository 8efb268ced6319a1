// Declares the fields that a phase of each kind has of its own: warm start, reward model,
// reinforcement.

import type { Readout } from '../../../model/layout/readout.ts'
import { DISTILLATION, type Distillation } from '../../../rl/config/distillation.ts'
import { layerList } from '../../../rl/config/layer_list.ts'
import type { Optim } from '../../../rl/config/optim.ts'
import { gradClip, optim } from '../../../rl/config/optim.ts'
import { type RlPhase, STOP_DEFAULTS, type Stop } from '../../../rl/config/phase.ts'
import {
  type TrainedFields,
  targetReadout,
  trainedFields,
} from '../../../rl/config/trained_fields.ts'
import { type AdvEstimator, ESTIMATOR_LIST } from '../../../rl/estimators/advantages.ts'
import { boolean, integer, number, select, type Tree, text } from '../../../rl/fields/field.ts'
import type { PreferenceSettings } from '../../../rl/preferences/settings.ts'
import { MAX_LAYERS } from './model_fields.ts'
import { PAIRS, type PairsFields } from './pairs_fields.ts'
import { PREFERENCE_SETTINGS } from './preference_fields.ts'

/** A warm start. */
export interface SftFields {
  /** null = named after what it does. */
  readonly name: string | null
  readonly steps: number
  /** null = as `steps` says; else `steps` follows from it (../epochs.ts). */
  readonly epochs: number | null
  readonly batch_size: number
  readonly grad_clip: number
  readonly optim: Required<Optim>
  readonly stop: Pick<Stop, 'accuracy'>
}

/** The training of a reward model. */
export interface RewardModelFields extends Omit<SftFields, 'stop' | 'epochs'> {
  readonly pairs: PairsFields
}

/** Learning from pairs of responses without a reward model. */
export interface PreferenceFields extends Omit<SftFields, 'epochs'> {
  readonly target_readout: Readout
  readonly preference: PreferenceSettings
  readonly pairs: PairsFields
  readonly refresh_steps: number | null
  readonly reward_model: RlPhase['reward_model']
}

/** Learning from a teacher's whole distribution. */
export interface DistillFields extends SftFields {
  readonly target_readout: Readout
  /** Whole numbers with commas; '' = none. */
  readonly layers: string | null
  readonly distillation: Required<Distillation>
}

/** Reinforcement, without the sections that it shares with other phases. */
export interface RlFields extends TrainedFields, Pick<RlPhase, 'reward_model'> {
  /** null = named after the layer it trains. */
  readonly name: string | null
  readonly steps: number
  /** As in a phase of kind sft. */
  readonly epochs: number | null
  readonly adv_estimator: AdvEstimator
  readonly stop: Stop
}

/** The most steps of one phase. */
export const MAX_STEPS = 100_000

const phaseName = text({
  label: 'Name',
  help: 'What charts call this phase; none = named after what it trains.',
  default: null,
  none: '',
  max: 40,
})

const steps = (count: number) =>
  integer({
    label: 'Steps',
    live: true,
    help: 'How many training steps this phase lasts.',
    default: count,
    min: 1,
    max: MAX_STEPS,
    unit: 'steps',
    scale: 'log',
  })

const epochs = integer({
  label: 'Epochs',
  live: true,
  help: 'Passes over the training set, in place of a number of steps; none = the number of steps decides.',
  default: null,
  none: 0,
  min: 1,
  max: 10000,
  unit: 'epochs',
})

/** When a phase ends before its steps are over (rl/config/stop.ts). */
const STOP: Tree<Stop> = {
  accuracy: number({
    label: 'Accuracy reached',
    live: true,
    help: 'Ends the phase when held-out greedy accuracy is at least this; none = off.',
    default: null,
    none: 0,
    min: 0.001,
    max: 1,
    step: 0.01,
    unit: 'share',
  }),
  score: number({
    label: 'Reward reached',
    live: true,
    help: 'Ends the phase when the mean reward of a step’s responses is at least this; none = off.',
    default: null,
    none: 0,
    min: 0.001,
    max: 1,
    step: 0.01,
    unit: 'reward',
  }),
  plateau_steps: integer({
    label: 'Plateau, steps',
    live: true,
    help: 'Ends the phase when the mean reward of this many steps is hardly above that of as many steps before them, so after twice as many steps at the earliest; none = off.',
    default: null,
    none: 0,
    min: 1,
    max: 1000,
    unit: 'steps',
  }),
  plateau_delta: number({
    label: 'Plateau, least gain',
    live: true,
    help: 'A smaller gain in mean reward counts as none.',
    default: STOP_DEFAULTS.plateau_delta,
    min: 0,
    max: 1,
    step: 0.005,
    unit: 'reward',
  }),
  entropy_floor: number({
    label: 'Entropy below',
    live: true,
    help: 'Ends the phase when the entropy of the policy that it trains is below this; none = off.',
    default: null,
    none: 0,
    min: 0.001,
    max: 20,
    step: 0.01,
    unit: 'nats',
  }),
}

/** Of a phase of kind sft. */
export const SFT: Tree<SftFields> = {
  name: phaseName,
  steps: steps(400),
  epochs,
  batch_size: integer({
    label: 'Batch',
    help: 'Demonstrations per step.',
    default: 256,
    min: 1,
    max: 4096,
    unit: 'demonstrations',
    scale: 'log',
  }),
  grad_clip: gradClip,
  optim: optim({ lr: 0.003, lr_warmup_steps: 50, betas: [0.9, 0.95], weight_decay: 0.01 }),
  stop: { accuracy: STOP.accuracy },
}

const pairsPerStep = integer({
  label: 'Batch',
  help: 'Pairs per step; of single answers twice as many.',
  default: 32,
  min: 1,
  max: 1024,
  unit: 'pairs',
  scale: 'log',
})

/** Of a phase of kind reward_model. */
export const REWARD_MODEL: Tree<RewardModelFields> = {
  name: phaseName,
  steps: steps(100),
  batch_size: pairsPerStep,
  grad_clip: gradClip,
  optim: optim({ lr: 0.001, lr_warmup_steps: 10, betas: [0.9, 0.95], weight_decay: 0 }),
  pairs: PAIRS,
}

/** Of a phase of kind preference, besides `target_layer`. */
export const PREFERENCE: Tree<PreferenceFields> = {
  name: phaseName,
  steps: steps(100),
  batch_size: pairsPerStep,
  target_readout: targetReadout,
  grad_clip: gradClip,
  optim: optim({ lr: 0.0005, lr_warmup_steps: 10, betas: [0.9, 0.95], weight_decay: 0 }),
  preference: PREFERENCE_SETTINGS,
  pairs: PAIRS,
  refresh_steps: integer({
    label: 'New pairs every',
    help: 'After how many steps the policy of that moment makes new pairs, which the task or the reward model judges at once (online preferences); none = the pairs are made where the phase begins.',
    default: null,
    none: 0,
    min: 1,
    max: 10000,
    unit: 'steps',
  }),
  reward_model: {
    enable: boolean({
      label: 'Pairs judged by the reward model',
      help: 'Whether the reward model of an earlier phase says which response is better, in place of the task.',
      default: false,
    }),
  },
  stop: { accuracy: STOP.accuracy },
}

/** Of a phase of kind distill, besides `target_layer`. */
export const DISTILL: Tree<DistillFields> = {
  name: phaseName,
  steps: steps(100),
  epochs,
  batch_size: integer({
    label: 'Batch',
    help: 'Responses per step, one to each prompt.',
    default: 64,
    min: 1,
    max: 4096,
    unit: 'responses',
    scale: 'log',
  }),
  target_readout: targetReadout,
  layers: layerList({
    label: 'Taught along',
    help: 'Further layers below the trained one that learn the same at once, each with the same weight, counted from 1, with commas (1,2); none = that one alone.',
  }),
  grad_clip: gradClip,
  optim: optim({ lr: 0.0005, lr_warmup_steps: 10, betas: [0.9, 0.95], weight_decay: 0 }),
  distillation: DISTILLATION,
  stop: { accuracy: STOP.accuracy },
}

/** 'GRPO', as menus call verl's `grpo`. */
export const estimatorLabel = (name: AdvEstimator): string =>
  ESTIMATOR_LIST.find((estimator) => estimator.name === name)?.label ?? name

/** Of a phase of kind rl, besides `target_layer` and its own settings of shared sections. */
export const RL: Tree<RlFields> = {
  name: phaseName,
  steps: steps(120),
  epochs,
  adv_estimator: select(
    {
      label: 'Advantage estimator',
      help: 'How rewards become advantages: GRPO and most others compare the responses to one prompt, GAE asks a critic. Up to verl 0.8, text of tools ended a return of REINFORCE++.',
    },
    Object.fromEntries(ESTIMATOR_LIST.map(({ name, label }) => [name, label])) as Readonly<
      Record<AdvEstimator, string>
    >,
  ),
  ...trainedFields(MAX_LAYERS),
  reward_model: {
    enable: boolean({
      label: 'Reward from the reward model',
      help: 'Whether the reward model of an earlier phase scores the responses, instead of the task.',
      default: false,
    }),
  },
  stop: STOP,
}

/** What `target_layer` is in forms; its options depend on the number of layers
 * (form/phase_form.ts). */
export const TARGET_LAYER = {
  label: 'Trained policy',
  help: 'Whose policy is trained: the one an inner layer already holds, or the whole model’s.',
  unit: 'layers applied',
  kind: 'select',
  default: 'final',
  live: false,
} as const
