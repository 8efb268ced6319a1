// Lists the fields in which runs differ, with those that a person changed while a run went on.
import type { Experiment } from '../../../document/experiment/schema/schema.ts'
import type { ValueSince } from '../../../document/experiment/steered/field_changes.ts'
import type { Difference } from '../../../record/compare/compare.ts'

/** Of a run: its document, undefined where it is not known, and the values that fields had. */
export interface Steered {
  readonly document: Experiment | undefined
  readonly changes: ReadonlyMap<string, readonly ValueSince[]>
}

/** Of which change by hand a difference is, counted from 0. */
const changeAt = (path: string): number | undefined => {
  const [, index] = /^steering\.(\d+)$/.exec(path) ?? []
  return index === undefined ? undefined : Number(index)
}

/** 'done by hand, 1'; undefined for a path of the document. */
export function doneByHandName(path: string): string | undefined {
  const index = changeAt(path)
  return index === undefined ? undefined : `done by hand, ${index + 1}`
}

/** The fields that a change by hand is said with; undefined where it needs a row of its own. */
function fieldsOfChange(path: string, runs: readonly Steered[]): readonly string[] | undefined {
  const index = changeAt(path)
  if (index === undefined) return undefined
  const entries = runs.map(({ document, changes }) => ({
    entry: document?.steering[index],
    changes,
  }))
  const isSaid = entries.every(
    ({ entry, changes }) => !entry || (entry.kind === 'set' && changes.has(entry.path)),
  )
  if (!isSaid) return undefined
  return entries.flatMap(({ entry }) => (entry?.kind === 'set' ? entry.path : []))
}

/** A change by hand is a difference of its field, whose values are said one after the other. */
export function withSteeredFields(
  found: readonly Difference[],
  runs: readonly Steered[],
): readonly Difference[] {
  const paths = found.flatMap(({ path }) => fieldsOfChange(path, runs) ?? [path])
  return [...new Set(paths)].map(
    (path) => found.find((one) => one.path === path) ?? { path, values: [] },
  )
}
