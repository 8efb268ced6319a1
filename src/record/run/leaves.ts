// Turns a document into a list of values with their dotted paths.

import type { Experiment } from '../../document/experiment/schema/schema.ts'
import type { FieldValue } from '../../rl/fields/field.ts'

function walk(node: unknown, path: string, into: Map<string, FieldValue>): void {
  if (typeof node === 'object' && node !== null) {
    for (const [name, value] of Object.entries(node))
      walk(value, path === '' ? name : `${path}.${name}`, into)
  } else if (node !== undefined) into.set(path, node as FieldValue)
}

const known = new WeakMap<Experiment, ReadonlyMap<string, FieldValue>>()

/** Every value of an experiment but its name and its steering, in the order of the document;
 * computed once. */
export function leavesOf(experiment: Experiment): ReadonlyMap<string, FieldValue> {
  const before = known.get(experiment)
  if (before) return before
  const { name: _name, steering: _steering, version: _version, ...rest } = experiment
  const leaves = new Map<string, FieldValue>()
  walk(rest, '', leaves)
  known.set(experiment, leaves)
  return leaves
}
