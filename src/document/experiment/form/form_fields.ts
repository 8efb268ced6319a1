// A field of one experiment as a form shows it.
import type { FieldInfo, FieldValue, Leaf } from '../fields/field.ts'
import { valueAt } from '../paths.ts'
import type { Experiment } from '../schema.ts'

/** A field of one experiment, with all a form needs. */
export interface Field extends FieldInfo {
  /** Dotted, e.g. 'actor.clip_ratio_low', 'phases.1.target_layer', 'actor.optim.betas.0'. */
  readonly path: string
  /** The heading above it. */
  readonly group: string
  /** The value in force; for a phase's own setting that is not set, the experiment's. */
  readonly value: FieldValue
  /** What clearing it (`withField(experiment, path, undefined)`) brings back. */
  readonly default: FieldValue
  /** Only for what a phase may set itself: whether it does. */
  readonly is_overridden?: boolean
  /** Whether it changes anything as the other settings are; a form leaves out what does not. */
  readonly has_effect: boolean
  /** What a run does otherwise than the value says. */
  readonly remark?: string
}

/** The fields of a tree with their values in an experiment; `path` is where the tree lies in it. */
export function fieldsOf(
  experiment: Experiment,
  group: string,
  path: string,
  leaves: [string, Leaf<FieldValue>][],
): Field[] {
  return leaves.map(([name, { info }]) => {
    const at = path === '' ? name : `${path}.${name}`
    return {
      ...info,
      path: at,
      group,
      value: valueAt(experiment, at) as FieldValue,
      has_effect: true,
    }
  })
}
