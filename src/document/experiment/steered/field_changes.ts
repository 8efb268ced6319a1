// Lists what a field was over a run: the value that it began with, and every one that a person gave
// it while the run went on.

import type { FieldValue } from '../../../rl/fields/field.ts'
import { steerExperiment } from '../experiment.ts'
import { documentFields } from '../schema/document_fields.ts'
import type { Experiment } from '../schema/schema.ts'
import { BEFORE, type Position, walk } from '../steering/follow.ts'

/** A value of a field from the step after `step` on. */
export interface ValueSince {
  readonly step: number
  readonly value: FieldValue
}

/** A run as far as it is known; one that has not begun has no switches. */
interface Run {
  /** As it began, with all that is done by hand. */
  readonly document: Experiment
  readonly phase_switches: readonly { readonly step: number; readonly phase: number }[]
  readonly step: number
  readonly phase: number
  readonly phase_step: number
}

/** Where the run was after a step that it has taken. */
function positionAt({ phase_switches }: Run, step: number): Position {
  // A phase that begins after this step has not begun yet.
  const begun = phase_switches.findLast((one) => one.step < step)
  const phase = begun?.phase ?? 0
  return { step, phase, phase_step: step - (begun?.step ?? 0), is_ended: false }
}

const fieldValue = (experiment: Experiment, path: string): FieldValue | undefined =>
  documentFields(experiment).find((field) => field.path === path)?.value

/** Whether the field had a say in the steps before: one of a phase that had not begun had none. */
function wasInUse(path: string, { step, phase, phase_step }: Position): boolean {
  const index = /^phases\.(\d+)\./.exec(path)?.[1]
  if (step === 0) return false
  return index === undefined || Number(index) < phase || (Number(index) === phase && phase_step > 0)
}

/** By path, the values that a field had one after the other, where it was changed by hand after it
 * had been in use; the first is that of its first step. Paths are those of the list of phases as it
 * is at last. */
export function fieldChanges(run: Run): ReadonlyMap<string, readonly ValueSince[]> {
  const changes = new Map<string, ValueSince[]>()
  const { steering } = run.document
  if (!steering.some(({ kind }) => kind === 'set')) return changes
  let now: Experiment = { ...run.document, steering: [] }
  let position = BEFORE
  for (const { step, ...action } of steering) {
    const isPast = step <= run.step
    const from = isPast || position.step >= run.step ? position : { ...run, is_ended: false }
    const reached = isPast ? positionAt(run, step) : walk(now.phases, from, step)
    if (!reached) break
    const result = steerExperiment(now, action, reached.phase, reached.phase_step)
    if (!result.ok) continue
    if (action.kind === 'set' && wasInUse(action.path, reached))
      append(changes, action.path, fieldValue(now, action.path), {
        step,
        value: fieldValue(result.experiment, action.path),
      })
    now = result.experiment
    position = { ...reached, is_ended: result.ends !== undefined }
  }
  return changes
}

/** Adds a value to those of a field; of values of one step the last one counts. */
function append(
  changes: Map<string, ValueSince[]>,
  path: string,
  before: FieldValue | undefined,
  { step, value }: { readonly step: number; readonly value: FieldValue | undefined },
): void {
  if (before === undefined || value === undefined) return
  const values = changes.get(path) ?? [{ step: 0, value: before }]
  const rest = values.filter((one) => one.step < step)
  const all = rest.at(-1)?.value === value ? rest : [...rest, { step, value }]
  if (all.length > 1) changes.set(path, all)
  else changes.delete(path)
}

/** '0.001, then 0.0005 after step 78'; `said`, how a value is written. */
export const changesWords = (
  values: readonly ValueSince[],
  said: (value: FieldValue) => string,
): string =>
  values
    .map(({ step, value }, i) => (i === 0 ? said(value) : `then ${said(value)} after step ${step}`))
    .join(', ')
