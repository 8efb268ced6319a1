// Sends a person's changes to the run before its next step: at once, or once an edited field has
// rested.

import { steerExperiment, withField } from '../../document/experiment/experiment.ts'
import { experimentFields } from '../../document/experiment/form/form.ts'
import type { Field } from '../../document/experiment/form/form_fields.ts'
import type { Experiment } from '../../document/experiment/schema/schema.ts'
import {
  type SteeringAction,
  valueSet,
  valueToSet,
} from '../../document/experiment/steering/actions.ts'
import { isSteerable } from '../../document/experiment/steering/edit_phases.ts'
import type { LabEvent } from '../../host/protocol/protocol.ts'
import { post } from '../connection/connection.ts'
import { lockedBecause, lockOf } from '../state/share_store.ts'
import { labStore } from '../state/store.ts'

/** Changes of the list of phases that the run has been asked for and has not answered. */
let moving = 0
export const MOVING =
  'The list of phases is about to change with the next step, and another phase may then be in this place. Try again after it.'

const movesPhases = (kind: SteeringAction['kind']): boolean =>
  !['set', 'kernels', 'next_phase', 'append_phase'].includes(kind)

/** Whether such a change is on its way. */
export const isMoving = (): boolean => moving > 0

/** Takes an answer of the worker to such a change; a run that returns to an earlier state answers
 * nothing more. */
export function answersMove(event: LabEvent): void {
  if (event.type === 'restored') forgetSent()
  if (event.type === 'steered' && movesPhases(event.entry.kind)) moving = Math.max(0, moving - 1)
}

/** No answer comes any more. */
export function forgetMoves(): void {
  moving = 0
  forgetSent()
}

const namesPhase = (action: SteeringAction): boolean =>
  'index' in action || (action.kind === 'set' && action.path.startsWith('phases.'))

/** Does something to the run before its next step. Returns why it cannot be done, if so. */
export function steer(action: SteeringAction): string | undefined {
  const locked = lockedBecause(action.kind === 'set' ? lockOf(action.path) : 'phases')
  if (locked !== undefined) return locked
  const { runExperiment, phase, phase_step } = labStore.getState()
  if (!runExperiment) return 'There is no run to steer.'
  const result = steerExperiment(runExperiment, action, phase, phase_step)
  if (!result.ok) return result.message
  if (moving > 0 && namesPhase(action)) return MOVING
  // Another list of phases would make other fields of their paths.
  sendResting()
  if (movesPhases(action.kind)) moving++
  post({ type: 'steer', action })
  return undefined
}

/** Ends the phase after the step in flight. */
export function nextPhase(): void {
  if (lockedBecause('phases') !== undefined) return
  sendResting()
  post({ type: 'next_phase' })
}

/** Milliseconds that a live field must rest before it is sent: a slider passes many values. */
const REST_MS = 300

type Value = Field['value']

/** Fields that a person has changed and that rest, with what was put into them. */
const resting = new Map<
  string,
  { readonly timer: ReturnType<typeof setTimeout>; readonly value: Value }
>()
/** What was last sent for a field, and how many answers to it there are once the run's own settings
 * are as new. */
const sent = new Map<string, { readonly value: Value; readonly answers: number }>()

/** Drops the edits that rest and have not been sent. */
export function forgetEdits(): void {
  for (const { timer } of resting.values()) clearTimeout(timer)
  resting.clear()
}

/** No answer comes to what was sent: the run starts again, or returns to an earlier state. */
const forgetSent = (): void => sent.clear()

/** Sends what rests, because something else is about to be asked of the run. */
export function sendResting(): void {
  const edits = [...resting]
  forgetEdits()
  for (const [path, { value }] of edits) sendField(path, value)
}

/** Has the run follow an edited field, where it can. */
export function sendEdit(path: string): void {
  clearTimeout(resting.get(path)?.timer)
  resting.delete(path)
  const { experiment, isBeside } = labStore.getState()
  const field = isBeside ? undefined : fieldAt(experiment, path)
  if (!field) return
  const value = valueToSet(field)
  const send = () => {
    resting.delete(path)
    sendField(path, value)
  }
  resting.set(path, { timer: setTimeout(send, REST_MS), value })
}

function sendField(path: string, value: Value): void {
  const { runExperiment, phase } = labStore.getState()
  const before = runExperiment && fieldAt(runExperiment, path)
  if (!before || !isSteerable(before, phase)) return
  keepEdit(path, value)
  const answers = answersTo(path)
  const last = sent.get(path)
  // The page may not have drawn yet what the run became by the last one.
  const isWaiting = last !== undefined && answers < last.answers
  if (value === (isWaiting ? last.value : valueToSet(before))) return
  sent.set(path, { value, answers: (isWaiting ? last.answers : answers) + 1 })
  post({ type: 'steer', action: { kind: 'set', path, value } })
}

/** While an edit rests, the answer to an earlier one puts its own value into the settings: the
 * person's last one counts. */
function keepEdit(path: string, value: Value): void {
  const { experiment } = labStore.getState()
  const field = fieldAt(experiment, path)
  if (!field || valueToSet(field) === value) return
  const kept = withField(experiment, path, valueSet(field, value))
  if (kept.ok) labStore.setState({ experiment: kept.experiment })
}

/** How often the run has answered to this field, as far as the page has drawn it. */
const answersTo = (path: string): number =>
  labStore.getState().steered.filter(({ entry }) => entry.kind === 'set' && entry.path === path)
    .length

const fieldAt = (experiment: Experiment, path: string): Field | undefined =>
  experimentFields(experiment).find((field) => field.path === path)
