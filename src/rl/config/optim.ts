// Declares how a model's weights are updated.
import { boolean, defaultsOf, integer, number, select, type Tree } from '../fields/field.ts'
import { MUON, type Muon } from './muon.ts'

/** The optimizer and its learning-rate schedule; verl's `optim` block. */
export interface Optim {
  /** What updates the matrices of blocks and of an adapter; default AdamW, which updates everything
   * else in any case. */
  readonly optimizer?: 'AdamW' | 'Muon'
  readonly muon?: Muon
  /** Peak learning rate. */
  readonly lr: number
  /** Steps from 0 to the peak; step 0 of a warm-up has rate 0, as in verl. null = by
   * `lr_warmup_steps_ratio`. */
  readonly lr_warmup_steps: number | null
  /** Warm-up as a share of all steps of the schedule, cut off to whole steps; default 0. */
  readonly lr_warmup_steps_ratio?: number
  readonly lr_scheduler_type: 'constant' | 'cosine'
  /** Floor of the cosine, as a share of `lr`. */
  readonly min_lr_ratio: number
  readonly betas: readonly [number, number]
  readonly weight_decay: number
  /** Whether weight decay acts on vectors, the weights of norms and biases, too; default true, as
   * in verl. Hugging Face's trainers, TRL's among them, leave them out (transformers
   * Trainer.get_decay_parameter_names). */
  readonly decay_norms?: boolean
}

/** The settings of Muon where it updates the matrices; undefined where AdamW updates everything. */
export const muonOf = ({ optimizer, muon }: Pick<Optim, 'optimizer' | 'muon'>): Muon | undefined =>
  optimizer === 'Muon' ? (muon ?? defaultsOf(MUON)) : undefined

/** The decay of matrices, and that of norms and biases. */
export const weightDecays = ({ weight_decay, decay_norms = true }: Optim) => ({
  weight_decay,
  vector_weight_decay: decay_norms ? weight_decay : 0,
})

/** The clip of every learner. */
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

const beta = (label: string, help: string, value: number) =>
  number({ label, live: true, help, default: value, min: 0, max: 0.9999, step: 0.01 })

type OptimDefaults = Pick<Optim, 'lr' | 'lr_warmup_steps' | 'betas' | 'weight_decay'>

/** verl's `optim` block, with the defaults of one learner. */
export const optim = (defaults: OptimDefaults): Tree<Required<Optim>> => ({
  optimizer: select(
    {
      label: 'Optimizer',
      help: 'What updates the matrices of blocks and of an adapter: AdamW, or Muon, which makes every step of a matrix equally long in all directions; AdamW updates embedding, head, norms and biases in any case.',
    },
    { AdamW: 'AdamW', Muon: 'Muon' },
  ),
  muon: MUON,
  lr: number({
    label: 'Learning rate',
    live: true,
    help: 'The peak step size; too large a value destroys a run.',
    default: defaults.lr,
    min: 0.000001,
    max: 0.1,
    scale: 'log',
  }),
  lr_warmup_steps: integer({
    label: 'Warm-up',
    help: 'Steps in which the learning rate rises from 0 to its peak; none = a share of all steps.',
    default: defaults.lr_warmup_steps,
    none: -1,
    min: 0,
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
    beta('Beta 1', 'How long AdamW remembers past gradients.', defaults.betas[0]),
    beta('Beta 2', 'How long AdamW remembers past squared gradients.', defaults.betas[1]),
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
  decay_norms: boolean({
    label: 'Decay norms too',
    help: 'Whether weight decay acts on the weights of norms and on biases too, as in verl; TRL leaves them out.',
    default: true,
  }),
})
