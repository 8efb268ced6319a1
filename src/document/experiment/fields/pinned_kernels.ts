// Writes the kernels of matrix products that an experiment pins as text: short enough for a link,
// and readable.
import type { MatmulChoice } from '../../../kernels/matmul/matmul_variants.ts'
import { VARIANT_NAMES } from '../../../kernels/matmul/variant_names.ts'

/** Pins nothing but says that nothing is to be measured either. */
const DEFAULT = 'default'
/** Every class without an entry of its own. */
const OTHERS = '*'
const NAMES: ReadonlySet<string> = new Set(VARIANT_NAMES)

/** The name of a class of products (kernels/matmul/matmul_variants.ts, shapeClass). */
export const SHAPE_CLASS = /^(nn|nt|tn|nt_add)_m\d{1,9}_n\d{1,9}_k\d{1,9}$/

/** Characters; a run of the largest preset with a kernel of its own for every class stays under
 * half of it. */
export const MAX_KERNELS_LENGTH = 4000

/** What a text pins, or what is wrong with it. */
export type PinnedKernels =
  /** `choice` is undefined where nothing is pinned, and {} for the default kernels. */
  | { readonly ok: true; readonly choice: MatmulChoice | undefined }
  | { readonly ok: false; readonly problem: string }

/** The variant of every class in a fixed order, '*' last:
 * 'nn_m64_n32_k16:slices_16x16,nt_m8_n32_k16:skinny_8x16'; 'default' where there is none. */
export function writeKernels(choice: MatmulChoice): string {
  const entries = Object.entries(choice).map(([shapeClass, name]) => `${shapeClass}:${name}`)
  const rank = (entry: string) => (entry.startsWith(OTHERS) ? 1 : 0)
  // '<' goes by code units, so the order is the same in every language.
  entries.sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1))
  return entries.join() || DEFAULT
}

/** The field `kernels`; null pins nothing, nor does '' of a run that began with the default ones.
 * What is wrong with a text names the entry and what to do. */
export function readKernels(text: string | null): PinnedKernels {
  if (!text) return { ok: true, choice: undefined }
  if (text === DEFAULT) return { ok: true, choice: {} }
  const choice = new Map<string, string>()
  for (const [i, part] of text.split(',').entries()) {
    const [shapeClass, name, ...rest] = part.trim().split(':')
    const refuse = (problem: string): PinnedKernels => {
      const shown = part.length > 60 ? `${part.slice(0, 60)}…` : part
      return { ok: false, problem: `entry ${i + 1} is '${shown}': ${problem}` }
    }
    if (name === undefined || rest.length > 0)
      return refuse(
        `expected a class of products and a kernel with one colon between them, like nt_m4096_n192_k64:vector_4x4, or 'default' alone`,
      )
    if (shapeClass !== OTHERS && !SHAPE_CLASS.test(shapeClass))
      return refuse(
        `expected nn, nt, tn or nt_add and sizes before the colon, like nt_m4096_n192_k64, or * for every other class`,
      )
    if (!NAMES.has(name))
      return refuse(`expected one of these after the colon: ${VARIANT_NAMES.join(', ')}`)
    if (choice.has(shapeClass))
      return refuse(`expected every class once; take this entry or the earlier one out`)
    choice.set(shapeClass, name)
  }
  return { ok: true, choice: Object.fromEntries(choice) }
}

/** What an experiment pins that parseExperiment has read; undefined where it leaves the choice
 * open. */
export function pinnedKernels({
  kernels,
}: {
  readonly kernels: string | null
}): MatmulChoice | undefined {
  const read = readKernels(kernels)
  return read.ok ? read.choice : undefined
}

/** The part of a run's choice that differs from the kernels it would have had by default. */
export const ownKernels = (choice: MatmulChoice, defaults: MatmulChoice): MatmulChoice =>
  Object.fromEntries(Object.entries(choice).filter(([name, own]) => own !== defaults[name]))

/** Why an adapter cannot run what is pinned; undefined where it can. `missing` names the features
 * that a variant requires and the adapter has not. */
export function unusablePin(
  choice: MatmulChoice,
  missing: (variant: string) => readonly string[],
): string | undefined {
  for (const [shapeClass, name] of Object.entries(choice)) {
    const features = missing(name)
    if (features.length > 0)
      return (
        `kernels: ${shapeClass}:${name} needs ${features.join(' and ')}, which this adapter lacks. ` +
        `Empty the field to have kernels chosen here, or set it to 'default'; ` +
        'the numbers are then those of the pinned run up to rounding.'
      )
  }
  return undefined
}
