// Does what the buttons of a run say: train, pause, resume, single steps, and steps that are
// measured or looked into.
import { isBusy, type LabStatus } from '../../record/run/run_parts.ts'
import { connect, isConnected, post } from '../connection/connection.ts'
import { labStore } from '../state/store.ts'
import { reset, start, takesTurns } from './starting.ts'

/** Trains the experiment that the settings show, from its first step. */
export const train = (): void => start(false)
/** Pauses after the step in flight. */
export function pause(): void {
  if (GOING.includes(labStore.getState().status)) labStore.setState({ isPausing: true })
  post({ type: 'pause' })
}

const GOING: readonly LabStatus[] = ['preparing', 'running', 'waiting']

/** Continues after a pause. */
export function resume(): void {
  labStore.setState({ isPausing: false })
  post({ type: takesTurns() ? 'turn' : 'resume' })
}

/** Starts again with what the settings show. */
export function restart(): void {
  reset()
  train()
}

/** One training step, then a pause; begins a run where there is none. */
export function stepOnce(): void {
  const step = () => post({ type: 'step' })
  if (isBusy(labStore.getState())) step()
  else start(true, step)
}

/** Measures the next step; begins a run where there is none, which then pauses. */
export function profileStep(): void {
  const profile = () => {
    labStore.setState({ isProfiling: true })
    post({ type: 'profile' })
  }
  if (isBusy(labStore.getState())) profile()
  else start(true, profile)
}

/** Asks the next step of reinforcement for its tokens; in a pause, takes one step. Only while a run
 * is on. */
export function traceStep(): void {
  const { status } = labStore.getState()
  if (!isBusy({ status })) return
  labStore.setState({ isTracing: true })
  post({ type: 'trace' })
  if (status === 'paused') post({ type: 'step' })
}

/** Measures this adapter. Only while no run is on. */
export function benchmark(): void {
  if (!isConnected()) connect()
  labStore.setState({ benchmark: { status: 'running', message: 'Opening the GPU' } })
  post({ type: 'benchmark' })
}
