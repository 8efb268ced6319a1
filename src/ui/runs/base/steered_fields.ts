// Lists the fields in which runs differ, with those that a person changed while a run went on.
import type { Experiment } from '../../../document/experiment/schema/schema.ts'
import type { ValueSince } from '../../../document/experiment/steered/field_changes.ts'
import { type Difference, doneByPath } from '../../../record/compare/compare.ts'

/** Of a run: its document, undefined where it is not known, and the values that fields had. */
export interface Steered {
  readonly document: Experiment | undefined
  readonly changes: ReadonlyMap<string, readonly ValueSince[]>
}

/** 'done by hand after step 19'; undefined for a path of the document. */
export function doneByHandName(path: string): string | undefined {
  const [, step] = /^steering\.(\d+)\./.exec(path) ?? []
  return step === undefined ? undefined : `done by hand after step ${step}`
}

/** The field that a change by hand is said with; undefined where it needs a row of its own. */
function fieldOfChange(path: string, runs: readonly Steered[]): string | undefined {
  const entries = runs.flatMap(({ document, changes }) => {
    const entry = document && doneByPath(document).get(path)
    return entry ? [{ entry, changes }] : []
  })
  const [first] = entries
  if (first?.entry.kind !== 'set') return undefined
  const field = first.entry.path
  return entries.every(({ changes }) => changes.has(field)) ? field : undefined
}

/** A change by hand is a difference of its field, whose values are said one after the other. */
export function withSteeredFields(
  found: readonly Difference[],
  runs: readonly Steered[],
): readonly Difference[] {
  const paths = found.map(({ path }) => fieldOfChange(path, runs) ?? path)
  return [...new Set(paths)].map(
    (path) => found.find((one) => one.path === path) ?? { path, values: [] },
  )
}
