// Declares the problems that a run trains on.
import { boolean, integer, number, type Tree, text } from '../fields/field.ts'

/** verl's `data` block. */
export interface Data {
  /** Problems of the finite set, the first ones of the task's training problems; null = no set:
   * every draw is from all of them. */
  readonly train_max_samples: number | null
  /** Whether every pass over the set has an order of its own; without, all have the same. Endless
   * draws are random anyway. */
  readonly shuffle: boolean
  readonly curriculum?: Curriculum
  readonly admission?: Admission
}

/** Reinforcement begins with an easier task, and a parameter of it rises as the policy learns. */
export interface Curriculum {
  /** The task's parameter; null = no curriculum. */
  readonly param: string | null
  /** Its first value; the last one is the task's own. Null = the smallest there is. */
  readonly start: number | null
  /** The share of right responses in a step at which it rises. */
  readonly advance_at: number
}

/** Which problems of the set reinforcement trains on, by the share of right responses when each was
 * last answered. */
export interface Admission {
  readonly min_rate: number
  readonly max_rate: number
  /** Passes after which a problem that was left out is tried again. */
  readonly retry_epochs: number
}

export const NO_CURRICULUM: Curriculum = { param: null, start: null, advance_at: 0.8 }
export const ADMITS_ALL: Admission = { min_rate: 0, max_rate: 1, retry_epochs: 4 }

/** Whether any problem can be left out. */
export const isSelective = ({ min_rate, max_rate }: Admission): boolean =>
  min_rate > 0 || max_rate < 1

export const DATA_DEFAULTS: Data = { train_max_samples: null, shuffle: true }

/** Whether training goes through a finite set. */
export const hasSet = ({ train_max_samples }: Data): boolean => train_max_samples !== null

/** Steps of one pass: whole batches alone, as verl's data loader with drop_last; 0 where there is
 * no set, or a smaller one. */
export const stepsPerEpoch = ({ train_max_samples }: Data, batchSize: number): number =>
  Math.floor((train_max_samples ?? 0) / batchSize)

const NO_SAMPLER =
  'its data loader takes every row in turn; verl takes a sampler of your own (data.sampler.class_path)'

const share = (
  said: Omit<Parameters<typeof number>[0], 'min' | 'max' | 'none'> & {
    default: number
    min?: number
  },
) => number({ min: 0, max: 1, step: 0.05, unit: 'share', ...said })

/** The `data` section. */
export const DATA: Tree<Required<Data>> = {
  train_max_samples: integer({
    label: 'Training set',
    help: 'How many different problems training repeats; none = no set: every step draws from all of them at random, endlessly.',
    default: DATA_DEFAULTS.train_max_samples,
    none: -1,
    min: 1,
    max: 100000,
    unit: 'different problems',
  }),
  shuffle: boolean({
    label: 'Shuffle the set',
    help: 'Whether every epoch goes through the training set in another order; without, always in the same one.',
    default: DATA_DEFAULTS.shuffle,
  }),
  curriculum: {
    param: text({
      label: 'Curriculum over',
      help: 'The parameter of the task that reinforcement begins with at a smaller value and that rises as the policy learns, such as length; none = the task is as it is from the first step.',
      default: NO_CURRICULUM.param,
      none: '',
      max: 40,
      elsewhere: { refused: NO_SAMPLER },
    }),
    start: number({
      label: 'First value',
      help: 'The value that the parameter begins with, none = its smallest; it ends at the task’s own.',
      default: NO_CURRICULUM.start,
      none: -1,
      min: 0,
      max: 1000000,
      step: 1,
      elsewhere: { lost: NO_SAMPLER },
    }),
    advance_at: share({
      label: 'Rises at',
      help: 'The share of right responses in a step at which the parameter rises to its next value.',
      default: NO_CURRICULUM.advance_at,
      min: 0.01,
      elsewhere: { lost: NO_SAMPLER },
    }),
  },
  admission: {
    min_rate: share({
      label: 'Too hard below',
      help: 'Reinforcement leaves out problems of the training set of which a smaller share of responses was right when they were last answered; 0 = none is too hard.',
      default: ADMITS_ALL.min_rate,
      elsewhere: { refused: NO_SAMPLER },
    }),
    max_rate: share({
      label: 'Too easy above',
      help: 'Reinforcement leaves out problems of the training set of which a larger share of responses was right when they were last answered; 1 = none is too easy.',
      default: ADMITS_ALL.max_rate,
      elsewhere: { refused: NO_SAMPLER },
    }),
    retry_epochs: integer({
      label: 'Tried again after',
      help: 'Passes over the set after which a problem that was left out is answered again, because the policy has learned meanwhile.',
      default: ADMITS_ALL.retry_epochs,
      min: 1,
      max: 1000,
      unit: 'passes',
      elsewhere: { lost: NO_SAMPLER },
    }),
  },
}
