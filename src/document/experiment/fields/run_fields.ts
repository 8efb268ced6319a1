// Declares the fields of a whole run: its name and seed, and the kernels it is pinned to.
import { integer, type Tree, text } from '../../../rl/fields/field.ts'
import { MAX_KERNELS_LENGTH } from './pinned_kernels.ts'

/** What lies at the top of the document. */
export interface RootFields {
  /** null = nobody named it. */
  readonly name: string | null
  readonly seed: number
}

/** At the top of the document. */
export const ROOT: Tree<RootFields> = {
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
