// Continues in another worker the run of one that died or hangs, from the run's newest checkpoint.

import type { Experiment } from '../../document/experiment/schema/schema.ts'
import type { CheckpointSource } from '../../host/protocol/checkpoint_facts.ts'
import type { LabEvent } from '../../host/protocol/protocol.ts'
import { isBusy } from '../../record/run/run_parts.ts'
import { type Connection, connect, labPage, tellStore } from '../connection/connection.ts'
import { labStore } from '../state/store.ts'
import { giveTurn, postStart, takesTurns } from './starting.ts'

/** A second worker that goes wrong within so long is not replaced: it would not help. */
const REPLACED_MS = 60_000

let replacedAt = Number.NEGATIVE_INFINITY

/** Forgets when a worker was replaced last. */
export function forgetReplaced(): void {
  replacedAt = Number.NEGATIVE_INFINITY
}

/** Another worker continues the run that is on, from its newest checkpoint. False where that is of
 * no use. */
export function replaceWorker(dead: Connection, message: string): boolean {
  const state = labStore.getState()
  const now = labPage().now()
  if (!dead.isBeating || !isBusy(state) || now - replacedAt < REPLACED_MS) return false
  replacedAt = now
  connect()
  const { run, record, checkpoints, runDocument, checkpoint_problem } = state
  if (!runDocument) return false
  // What was kept in memory is gone with the worker.
  const isGone = checkpoint_problem?.code === 'unavailable'
  const step = isGone ? undefined : checkpoints.at(-1)?.step
  const from: CheckpointSource | undefined =
    step === undefined ? undefined : { kind: 'resume', record, step }
  if (!from) tellStore(fromTheStart(run, runDocument))
  labStore.setState({
    status: 'preparing',
    loss: { what: 'worker', step: step ?? 0, message, is_waiting: false, is_blocked: false },
  })
  const isPaused = takesTurns() || state.isPausing || state.status === 'paused'
  postStart({ run, record, experiment: runDocument, paused: isPaused, from })
  if (takesTurns() && state.status !== 'paused' && !state.isPausing) giveTurn()
  return true
}

const fromTheStart = (run: number, document: Experiment): LabEvent => ({
  type: 'restored',
  run,
  why: 'lost',
  step: 0,
  phase: 0,
  phase_step: 0,
  experiment: { ...document, steering: [] },
  document,
  history: { series: {}, phase_switches: [], steered: [], verdicts: {} },
  kernels: '',
})
