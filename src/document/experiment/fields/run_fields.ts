// The fields of a whole run: its name and seed, its training set, and the kernels it is pinned to.
import { DATA_DEFAULTS, type Data } from '../../../rl/config/data.ts'
import { boolean, integer, type Tree, text } from '../../../rl/fields/field.ts'
import { MAX_KERNELS_LENGTH } from '../pinned_kernels.ts'

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

/** The `data` section. */
export const DATA: Tree<Data> = {
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
