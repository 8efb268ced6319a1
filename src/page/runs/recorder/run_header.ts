// Makes the header of a record: the part that is written again with every change.

import { withField } from '../../../document/experiment/experiment.ts'
import type { Experiment } from '../../../document/experiment/schema/schema.ts'
import { PROTOCOL_VERSION } from '../../../host/protocol/protocol.ts'
import { vocabularyOf } from '../../../host/protocol/vocabulary.ts'
import { RECORD_VERSION, type RecordStatus, type RunHeader } from '../../../record/run/record.ts'
import { isBusy } from '../../../record/run/run_parts.ts'
import { saidIn } from '../../state/next_experiment.ts'
import type { LabState } from '../../state/store.ts'
import { withVerdicts } from '../../state/taught.ts'
import { markStored, newRun, type RecordedRun } from './recorded_run.ts'
import type { RecorderHost } from './recorder_host.ts'

/** How far a run has come. */
export function statusOf({ state, wasDropped }: RecordedRun): RecordStatus {
  const { status } = state
  if (status === 'finished' || status === 'failed') return status
  if (wasDropped || !isBusy(state)) return 'stopped'
  return status === 'paused' ? 'paused' : 'running'
}

const documents = new WeakMap<Experiment, { readonly of: string; readonly document: Experiment }>()

/** The document that repeats a run, with the verdicts that a person gave in it and with the kernels
 * it ran on. */
function recordedDocument(state: LabState): Experiment {
  const { runDocument, kernels } = state
  if (!runDocument) return state.experiment
  const said = saidIn(state)
  const of = JSON.stringify([said, kernels])
  const known = documents.get(runDocument)
  if (known?.of === of) return known.document
  const taught = withVerdicts(runDocument, said)
  const needsPin = kernels !== '' && taught.kernels === null
  const pinned = needsPin ? withField(taught, 'kernels', kernels) : undefined
  const document = pinned?.ok ? pinned.experiment : taught
  documents.set(runDocument, { of, document })
  return document
}

/** The header as it is now. Where the run is over, notes when it ended. */
export function headerOf(recording: RecordedRun, host: RecorderHost): RunHeader {
  const { id, state, started_at, preset_id, parent, parent_step, summaries } = recording
  const { experiment, runExperiment, error, kernels, step, phase, phase_step } = state
  const status = statusOf(recording)
  const isOver = status !== 'running' && status !== 'paused'
  recording.ended_at = isOver ? (recording.ended_at ?? host.now()) : undefined
  return {
    id,
    record_version: RECORD_VERSION,
    preset_id,
    document: recordedDocument(state),
    experiment: runExperiment ?? experiment,
    adapter: host.adapterName(state),
    kernels,
    rollout_dtype: state.rollout_dtype,
    tokens: vocabularyOf((runExperiment ?? experiment).task).tokens,
    versions: { understory: host.version, protocol: PROTOCOL_VERSION },
    started_at,
    ended_at: recording.ended_at,
    status,
    error: status === 'failed' ? error : undefined,
    step,
    phase,
    phase_step,
    phase_switches: state.phase_switches,
    steered: state.steered,
    metrics: state.metrics,
    summaries: { ...summaries },
    parent,
    parent_step,
    was_left: status === 'stopped' && recording.was_left,
  }
}

/** Begins to record the run of a state, which was seen first at `seenAt`. An earlier page may have
 * written part of it. */
export function beginRun(state: LabState, host: RecorderHost, seenAt: number): RecordedRun {
  const before = host.headerOf(state.record)
  const preset_id = before?.preset_id ?? state.preset_id
  const document = state.runDocument ?? state.experiment
  const own = newRun({
    id: state.record,
    run: state.run,
    started_at: before?.started_at ?? seenAt,
    preset_id,
    parent:
      state.parent?.record ?? (before ? before.parent : host.parentOf(state.preset_id, document)),
    parent_step: state.parent?.step,
    state,
  })
  markStored(own, before ? (state.restored?.step ?? 0) : 0)
  return own
}
