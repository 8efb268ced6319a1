// Tells a screen reader the status and the phases of a run, never more than one sentence in
// ten seconds.
import type { LabState } from '../../page/state/store.ts'
import { selectLacksGpu } from '../../page/state/without_gpu.ts'
import { shownPhases } from '../shown/run.ts'

/** Between two announcements, ms. */
export const QUIET_MS = 10_000

const STATUS: Readonly<Record<LabState['status'], string>> = {
  loading: 'Opening the GPU',
  idle: 'Ready to train',
  preparing: 'Preparing to train',
  running: 'Training',
  paused: 'Paused',
  waiting: 'Waiting for your verdicts',
  finished: 'Finished',
  failed: 'Stopped by an error',
  stopped: 'Stopped',
}

/** The sentence of the moment; it changes with the status and the phase, not with every step. */
export function statusSentence(state: LabState): string {
  const { status, phase, runExperiment } = state
  const said = selectLacksGpu(state) ? 'No GPU here' : STATUS[status]
  if (!runExperiment || !['running', 'paused', 'waiting'].includes(status)) return said
  const phases = shownPhases(state)
  const name = phases[phase]?.name
  return name === undefined ? said : `${said}, phase ${phase + 1} of ${phases.length}: ${name}`
}

/** Milliseconds until something may be said again; 0 = now. */
export const quietFor = (saidAtMs: number | undefined, nowMs: number): number =>
  saidAtMs === undefined ? 0 : Math.max(0, saidAtMs + QUIET_MS - nowMs)
