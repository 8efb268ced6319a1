// What a person does to the run that is on, before its next step: at once, or once an edited field has rested.

import { steerExperiment } from '../../experiment/experiment.ts'
import { experimentFields } from '../../experiment/form/form.ts'
import type { Experiment } from '../../experiment/schema.ts'
import type { SteeringAction } from '../../experiment/steering/actions.ts'
import { isSteerable } from '../../experiment/steering/edit_phases.ts'
import type { LabEvent } from '../../protocol/protocol.ts'
import { lockedBecause, lockOf } from '../share_store.ts'
import { labStore } from '../store.ts'
import { post } from './connection.ts'

/** Changes of the list of phases that the run has been asked for and has not answered. */
let moving = 0
export const MOVING =
  'The list of phases is about to change with the next step, and another phase may then be in this place. Try again after it.'

const movesPhases = (kind: SteeringAction['kind']): boolean =>
  kind !== 'set' && kind !== 'next_phase' && kind !== 'append_phase'

/** Whether such a change is on its way. */
export const isMoving = (): boolean => moving > 0

/** Takes an answer of the worker to such a change. */
export function answersMove(event: LabEvent): void {
  if (event.type === 'steered' && movesPhases(event.entry.kind)) moving = Math.max(0, moving - 1)
}

/** No answer comes any more. */
export function forgetMoves(): void {
  moving = 0
}

const namesPhase = (action: SteeringAction): boolean =>
  'index' in action || (action.kind === 'set' && action.path.startsWith('phases.'))

/** Does something to the run before its next step. Returns why it cannot be done, if so. */
export function steer(action: SteeringAction): string | undefined {
  const locked = lockedBecause(action.kind === 'set' ? lockOf(action.path) : 'phases')
  if (locked !== undefined) return locked
  const { run_experiment, phase, phase_step } = labStore.getState()
  if (!run_experiment) return 'There is no run to steer.'
  const result = steerExperiment(run_experiment, action, phase, phase_step)
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
const resting = new Map<string, ReturnType<typeof setTimeout>>()

/** Drops the edits that rest and have not been sent. */
export function forgetEdits(): void {
  for (const timer of resting.values()) clearTimeout(timer)
  resting.clear()
}

/** Sends what rests, because something else is about to be asked of the run. */
function sendResting(): void {
  const paths = [...resting.keys()]
  forgetEdits()
  for (const path of paths) sendField(path)
}

/** Has the run follow an edited field, where it can. */
export function sendEdit(path: string): void {
  clearTimeout(resting.get(path))
  const send = () => {
    resting.delete(path)
    sendField(path)
  }
  resting.set(path, setTimeout(send, REST_MS))
}

function sendField(path: string): void {
  const { experiment, run_experiment, phase } = labStore.getState()
  if (!run_experiment) return
  const field = fieldAt(experiment, path)
  const before = fieldAt(run_experiment, path)
  if (!field || !before || !isSteerable(before, phase)) return
  const value = ownValue(field)
  if (value !== ownValue(before)) post({ type: 'steer', action: { kind: 'set', path, value } })
}

const fieldAt = (experiment: Experiment, path: string) =>
  experimentFields(experiment).find((field) => field.path === path)

/** null where a phase takes the experiment's. */
const ownValue = ({ value, is_overridden }: ReturnType<typeof experimentFields>[number]) =>
  is_overridden === false ? null : value
