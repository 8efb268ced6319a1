// The fields of a whole run: its name and seed, its training set, and the kernels it is pinned to.
import { ADMITS_ALL, DATA_DEFAULTS, type Data, NO_CURRICULUM } from '../../../rl/config/data.ts'
import { boolean, integer, number, type Tree, text } from '../../../rl/fields/field.ts'
import { MAX_KERNELS_LENGTH } from './pinned_kernels.ts'

/** At the top of the document. */
export const ROOT: Tree<{ name: string | null; seed: number }> = {
  name: text({
    label: 'Name',
    help: 'What this experiment is called.',
    default: null,
    none: '',
    max: 80,
  }),
  seed: integer({
    label: 'Seed',
    help: 'Decides the first weights, the problems and every sample; the same seed repeats a run.',
    default: 1,
    min: 0,
    max: 4294967295,
  }),
}

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
    unit: 'problems',
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
      help: 'The value that the parameter begins with; it ends at the task’s own.',
      default: NO_CURRICULUM.start,
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

/** A form shows it last; the document has it at the top. */
export const KERNELS: Tree<{ kernels: string | null }> = {
  kernels: text({
    label: 'Pinned kernels',
    help: 'What matrix products run on, so that a run repeats bit for bit: class:kernel with commas between them, and default kernels for what is not listed; default = default kernels for all; none = chosen for this adapter; a first run there measures others between its steps.',
    default: null,
    none: '',
    max: MAX_KERNELS_LENGTH,
  }),
}
