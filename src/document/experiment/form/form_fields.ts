// Describes a field of one experiment as a form shows it.
import type { FieldValue, Leaf } from '../../../rl/fields/field.ts'
import { valueAt } from '../fields/paths.ts'
import type { DocumentField } from '../schema/document_fields.ts'
import type { Experiment } from '../schema/schema.ts'

/** A field of one experiment, with all a form needs. */
export interface Field extends DocumentField {
  /** The heading above it. */
  readonly group: string
  /** Whether it changes anything as the other settings are; a form leaves out what does not. */
  readonly hasEffect: boolean
  /** What a run does otherwise than the value says. */
  readonly remark?: string
}

/** What is wrong with a name that was typed. */
export const noSuchField = (typed: string): string => `No field is called “${typed}”.`

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
      hasEffect: true,
    }
  })
}
