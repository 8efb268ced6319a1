// Takes a person's edits of the settings: fields, phases, and what takes them back.

import { withField } from '../../document/experiment/experiment.ts'
import type { PhaseDocument } from '../../document/experiment/fields/phases.ts'
import { experimentFields } from '../../document/experiment/form/form.ts'
import { startIssue } from '../../document/experiment/form/start_fit.ts'
import type { Experiment } from '../../document/experiment/schema/schema.ts'
import { isBusy, type WrongField } from '../../record/run/run_parts.ts'
import { editedSettings, settledPhases } from '../state/next_experiment.ts'
import { lockedBecause, lockOf } from '../state/share_store.ts'
import { type LabState, labStore } from '../state/store.ts'
import { type Settings, settingsIn } from './stage.ts'
import { isMoving, MOVING, sendEdit, steer } from './steering.ts'

/** What a person did to the settings. */
export type EditKind =
  | { readonly kind: 'field'; readonly path: string }
  | { readonly kind: 'preset' | 'discard' | 'smaller' }
  | { readonly kind: 'file'; readonly name: string }

export type Edit = EditKind & { readonly before: Settings; readonly after: Settings }

/** Made before anyone asked for edits: who follows them is loaded after the page is seen. */
const untold: Edit[] = []
let tellEdit = (edit: Edit): void => void untold.push(edit)

/** Reports every edit by a person after it was made, those before this call at once. Changes that a
 * run makes to the settings do not count. */
export function onEdit(tell: (edit: Edit) => void): void {
  tellEdit = tell
  for (const edit of untold.splice(0)) tell(edit)
}

/** Changes the settings, and announces it. What was typed and did not hold goes where other
 * settings take the place of all. */
export function edit(change: Partial<LabState>, kind: EditKind): void {
  const before = settingsIn(labStore.getState())
  labStore.setState({ ...change, ...(kind.kind !== 'field' && { wrongFields: [] }) })
  tellEdit({ ...kind, before, after: settingsIn(labStore.getState()) })
}

/** Changes one field of the experiment; `undefined` brings its default back. Returns why it was
 * refused, if so. */
export function editField(path: string, value: unknown): string | undefined {
  const locked = lockedBecause(lockOf(path))
  if (locked !== undefined) return locked
  const state = labStore.getState()
  if (isMoving() && path.startsWith('phases.') && isOfRunOn(state, 'settings')) return MOVING
  const settled =
    path === 'phases' && Array.isArray(value)
      ? settledPhases(value as PhaseDocument[], state)
      : value
  const result = withField(state.experiment, path, settled)
  const unfit = result.ok ? startIssue(state.experiment, result.experiment) : result.message
  if (!result.ok || unfit !== undefined) return unfit
  edit({ experiment: editedSettings(result.experiment, state) }, { kind: 'field', path })
  if (isBusy(labStore.getState())) sendEdit(path)
  return undefined
}

/** Keeps what a person typed into a field that does not take it. */
export function keepWrong(wrong: WrongField): void {
  const others = labStore.getState().wrongFields.filter(({ path }) => path !== wrong.path)
  labStore.setState({ wrongFields: [...others, wrong] })
}

/** The field has the value that holds again. */
export function dropWrong(path: string): void {
  const { wrongFields } = labStore.getState()
  const others = wrongFields.filter((wrong) => wrong.path !== path)
  if (others.length < wrongFields.length) labStore.setState({ wrongFields: others })
}

/** The field has again what it had before a person began to type. */
export function takeBack({ path, before }: WrongField): void {
  dropWrong(path)
  if (before) editField(path, before.value)
}

/** Those whose field is still in the form; the same list while nothing changes. */
export function wrongFields({ wrongFields, experiment }: LabState): readonly WrongField[] {
  if (wrongFields.length === 0) return wrongFields
  const before = inForm.get(wrongFields)
  if (before?.experiment === experiment) return before.wrong
  const shown = experimentFields(experiment).filter(({ hasEffect }) => hasEffect)
  const wrong = wrongFields.filter(({ path }) => shown.some((field) => field.path === path))
  inForm.set(wrongFields, { experiment, wrong })
  return wrong
}

const inForm = new WeakMap<object, { experiment: Experiment; wrong: readonly WrongField[] }>()

/** Whose list of phases is changed: the one on the line, which is that of the run while one is on,
 * or the one in the settings, which may be of another experiment. */
type PhasesOf = 'line' | 'settings'

const isOfRunOn = (state: LabState, of: PhasesOf): boolean =>
  isBusy(state) && !(of === 'settings' && state.isBeside)

/** Makes a phase on the line longer or shorter. */
export function setSteps(index: number, steps: number): string | undefined {
  const path = `phases.${index}.steps`
  const state = labStore.getState()
  return isBusy(state) && state.isBeside
    ? steer({ kind: 'set', path, value: steps })
    : editField(path, steps)
}

/** Adds a phase at the end: of the run that is on, else of the settings. */
export function appendPhase(phase: PhaseDocument, of: PhasesOf = 'line'): string | undefined {
  const state = labStore.getState()
  if (isOfRunOn(state, of)) return steer({ kind: 'append_phase', phase })
  return editField('phases', [...state.experiment.phases, phase])
}

/** Takes a phase away that has not begun. */
export function removePhase(index: number, of: PhasesOf = 'line'): string | undefined {
  const state = labStore.getState()
  if (isOfRunOn(state, of)) return steer({ kind: 'remove_phase', index })
  return editField('phases', state.experiment.phases.toSpliced(index, 1))
}

/** Moves a phase that has not begun. */
export function movePhase(index: number, to: number, of: PhasesOf = 'line'): string | undefined {
  const state = labStore.getState()
  if (isOfRunOn(state, of)) return steer({ kind: 'move_phase', index, to })
  const { phases } = state.experiment
  return editField('phases', phases.toSpliced(index, 1).toSpliced(to, 0, phases[index]))
}

/** Forgets what the document says is to be done to the run. */
export const clearSteering = (): string | undefined => editField('steering', [])
