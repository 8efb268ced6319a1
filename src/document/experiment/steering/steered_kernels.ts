// Finds the kernels that a run has after what was done to it.
import type { MatmulChoice } from '../../../kernels/matmul/matmul_variants.ts'
import { readKernels } from '../fields/pinned_kernels.ts'
import type { SteeringEntry } from './actions.ts'

type Marks = readonly { readonly entry: SteeringEntry; readonly refused?: string | undefined }[]

/** The classes whose kernels `entries` change, each with its last one. */
export function steeredKernels(entries: readonly SteeringEntry[]): MatmulChoice {
  const choices = entries.map((entry) => {
    const read = entry.kind === 'kernels' ? readKernels(entry.kernels) : undefined
    return read?.ok ? read.choice : undefined
  })
  return Object.assign({}, ...choices)
}

/** What was done to a run, without what it refused. */
const obeyed = (steered: Marks): readonly SteeringEntry[] =>
  steered.flatMap(({ entry, refused }) => (refused === undefined ? [entry] : []))

/** The kernels of a run that began with those of the text `kernels`, '' for the default ones;
 * undefined where they are still those. */
export function presentKernels(kernels: string, steered: Marks): MatmulChoice | undefined {
  const read = readKernels(kernels)
  const changed = steeredKernels(obeyed(steered))
  const began = read.ok ? read.choice : undefined
  return began || Object.keys(changed).length > 0 ? { ...began, ...changed } : undefined
}

/** What a person did: kernels are changed by the tuner. */
export const doneByHand = (entries: readonly SteeringEntry[]): readonly SteeringEntry[] =>
  entries.filter(({ kind }) => kind !== 'kernels')
