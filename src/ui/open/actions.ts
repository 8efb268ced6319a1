// Holds what the buttons do, and when they can be used: shared by the control bar and the keys.
import { isEnding } from '../../document/experiment/steered/planned.ts'
import { pause, resume, train } from '../../page/client/controls.ts'
import { wrongFields } from '../../page/client/edits.ts'
import { choosePreset } from '../../page/client/opening.ts'
import { isReplaying } from '../../page/state/replay.ts'
import { type LabState, labStore } from '../../page/state/store.ts'
import { selectLacksGpu } from '../../page/state/without_gpu.ts'
import { isBusy } from '../../record/run/run_parts.ts'
import { viewStore } from '../shown/shown.ts'
import { foldOverRun } from '../shown/store.ts'
import { closePast } from './opened_run.ts'

/** A run would train other settings than those that are typed, or those of another run than the
 * page shows. */
const isHeldBack = (state: LabState): boolean =>
  !isBusy(state) && (wrongFields(state).length > 0 || viewStore.getState().viewed !== undefined)

export const canToggle = (state: LabState): boolean =>
  state.status !== 'loading' && !state.isPausing && !isHeldBack(state)
export const canStep = (state: LabState): boolean =>
  (state.status === 'idle' || state.status === 'paused') && !isHeldBack(state)
/** A step can be measured in a run, or by beginning one, also after another. */
export const canProfile = (state: LabState): boolean =>
  !isReplaying() &&
  state.status !== 'loading' &&
  state.status !== 'waiting' &&
  !selectLacksGpu(state) &&
  !isHeldBack(state)
/** Whether a new run can take the place of the one on the page. */
export const canRestart = (state: LabState): boolean => wrongFields(state).length === 0
export function canNextPhase(state: LabState): boolean {
  const { status, runExperiment, experiment, phase, phase_step } = state
  const { phases } = runExperiment ?? experiment
  // A reward model that was never taught would reward at random.
  const isUntaught = phases[phase]?.kind === 'reward_model' && phase_step === 0
  const canEnd = status === 'running' || status === 'paused'
  return canEnd && phase + 1 < phases.length && !isUntaught && !isEnding(state)
}
/** There is a run to drop, or a field to put back. */
export const canReset = (state: LabState): boolean =>
  state.status !== 'loading' &&
  (wrongFields(state).length > 0 || (state.status !== 'idle' && !selectLacksGpu(state)))

/** What the big button says and does now. */
export function toggleLabel(state: LabState): string {
  const { status, isPausing } = state
  if (selectLacksGpu(state)) return 'Look for a GPU again'
  if (isPausing) return 'Pausing …'
  if (status === 'running' || status === 'preparing' || status === 'waiting') return 'Pause'
  if (status === 'paused') return 'Continue'
  if (status === 'failed') return 'Try again'
  return status === 'finished' ? 'Train again' : 'Train'
}

/** Nothing is trained while a recording plays. */
const REPLAYED: Readonly<Record<string, string>> = { Train: 'Play', 'Train again': 'Play again' }

/** The same while a recording plays. */
export const replayedLabel = (label: string): string => REPLAYED[label] ?? label

export function toggleTraining(): void {
  const state = labStore.getState()
  const { status } = state
  if (selectLacksGpu(state)) void import('./find_gpu.ts').then(({ findGpu }) => findGpu())
  else if (status === 'running' || status === 'preparing' || status === 'waiting') pause()
  else if (status === 'paused') resume()
  else {
    foldOverRun()
    train()
  }
}

/** Opens a preset and shows it, whatever past run the page shows. */
export function openPreset(id: string): void {
  if (!choosePreset(id)) return
  closePast()
  void import('../../page/opened/shipped_files.ts').then(({ prepareShipped }) => prepareShipped())
}
