// Describes steering: what is done to a run while it trains, by a person or by the tuner of
// kernels, as data. The document carries it, so that the run can be repeated.
import * as z from 'zod/mini'
import {
  expected,
  type FieldInfo,
  type FieldValue,
  filled,
  oneOf,
  show,
} from '../../../rl/fields/field.ts'
import type { PhaseDocument } from '../fields/phases.ts'

/** What can be done to a run. "Present" is the phase of the last step that was taken. */
export type SteeringAction =
  /** The present phase ends. */
  | { readonly kind: 'next_phase' }
  /** The present phase ends and this one begins; the rest of the list follows. */
  | { readonly kind: 'insert_phase'; readonly phase: PhaseDocument }
  /** The present phase ends and this one begins; then the steps that the present one had left, as a
   * phase of their own. */
  | { readonly kind: 'interrupt_phase'; readonly phase: PhaseDocument }
  /** This phase begins when the steps of the present one are done; the rest of the list follows. */
  | { readonly kind: 'follow_phase'; readonly phase: PhaseDocument }
  /** The present phase once more after itself. */
  | { readonly kind: 'repeat_phase' }
  | { readonly kind: 'append_phase'; readonly phase: PhaseDocument }
  /** Of phases that have not begun. */
  | { readonly kind: 'remove_phase'; readonly index: number }
  | { readonly kind: 'move_phase'; readonly index: number; readonly to: number }
  /** A live field, or any field of a phase that has not begun; null brings its default back, NONE
   * leaves it without a value. */
  | { readonly kind: 'set'; readonly path: string; readonly value: FieldValue }
  /** Matrix products of these classes take other kernels (pinned_kernels.ts); what is not listed
   * keeps its own. */
  | { readonly kind: 'kernels'; readonly kernels: string }

/** An action that takes effect after `step` training steps, so step `step` + 1 is the first that
 * obeys it (0 = before the first). Entries of the same step take effect in the order of the
 * list. */
export type SteeringEntry = { readonly step: number } & SteeringAction

/** The value of a `set` that leaves a field without one, where null would bring its default
 * back. */
export const NONE = 'none'

/** A field of an experiment that a `set` may change. */
type Settable = Pick<FieldInfo, 'none' | 'default'> & {
  readonly value: FieldValue
  readonly isOverridden?: boolean
}

/** A field that may be without a value although its default is one, or that a phase may take from
 * the experiment: null and its default are not the same. */
const tellsNone = ({ none, default: usual, isOverridden }: Settable): boolean =>
  none !== undefined && (usual !== null || isOverridden !== undefined)

/** What a `set` says for a field to be as it is here. */
export const valueToSet = (field: Settable): FieldValue => {
  if (field.isOverridden === false) return null
  return field.value === null && tellsNone(field) ? NONE : field.value
}

/** What a `set` makes of a field; undefined = its default. */
export const valueSet = (field: Settable, value: FieldValue): FieldValue | undefined =>
  value === NONE && tellsNone(field) ? null : (value ?? undefined)

/** The most entries of a document. */
export const MAX_STEERING = 64

/** Schema of the list; `phase` is that of a phase. */
export function steeringSchema(phase: z.ZodMiniType): z.ZodMiniType {
  const whole = (what: string) => {
    const error = expected(what)
    return z.int({ error }).check(z.minimum(0, { error }), z.maximum(1_000_000, { error }))
  }
  const index = whole('the index of a phase, counted from 0')
  const shapes: Readonly<Record<SteeringAction['kind'], Record<string, z.ZodMiniType>>> = {
    next_phase: {},
    insert_phase: { phase },
    interrupt_phase: { phase },
    follow_phase: { phase },
    repeat_phase: {},
    append_phase: { phase },
    remove_phase: { index },
    move_phase: { index, to: index },
    set: {
      path: z.string({ error: expected('the path of a field, e.g. actor.optim.lr') }),
      value: z.union([z.string(), z.number(), z.boolean(), z.null()], {
        error: expected(`a value of the field, null for its default, or '${NONE}' for none`),
      }),
    },
    kernels: { kernels: z.string({ error: expected('class:kernel with commas between them') }) },
  }
  const step = whole('a whole number of steps from 0')
  const entries = Object.entries(shapes).map(([kind, shape]) =>
    filled({}, { kind: z.literal(kind), step, ...shape }),
  )
  const error = (issue: { input?: unknown }) =>
    `expected a list of what to do after which step, got ${show(issue.input)}`
  return z
    .array(oneOf('kind', Object.keys(shapes), entries), { error })
    .check(z.maxLength(MAX_STEERING, { error: `expected at most ${MAX_STEERING} entries` }))
}
