// Computes the state after the run went back to an earlier step, or was steered.

import { steerExperiment } from '../../document/experiment/experiment.ts'
import {
  presentKernels,
  steeredKernels,
} from '../../document/experiment/steering/steered_kernels.ts'
import { Series } from '../../host/columns/series.ts'
import type { LabEvent } from '../../host/protocol/protocol.ts'
import type { Metrics } from '../../host/protocol/results.ts'
import { cutKept } from '../../record/run/kept_run.ts'
import { UNKNOWN_TIMING } from '../../record/run/run_parts.ts'
import { isOfRun } from '../state/next_experiment.ts'
import type { LabState } from '../state/store.ts'

/** What was known of later steps is no longer so. */
export function applyRestored(
  state: LabState,
  event: Extract<LabEvent, { type: 'restored' }>,
): LabState {
  const { why, step, phase, phase_step, experiment, document, history, kernels, differs } = event
  const { phase_switches, steered, verdicts } = history
  const series = new Map(
    Object.entries(history.series).map(([metric, { steps, values, thinned }]) => [
      metric,
      Series.of(steps, values, thinned),
    ]),
  )
  cutKept(state.kept, step)
  const isFollowed = isOfRun(state)
  const trace = state.trace && state.trace.step <= step ? state.trace : undefined
  const scored = state.scored_pairs && state.scored_pairs.step <= step
  return {
    ...state,
    restored: { why, step, differs },
    loss: state.loss && { ...state.loss, step, is_waiting: false, is_blocked: false },
    parent: event.parent ?? state.parent,
    step,
    phase,
    phase_step,
    experiment: isFollowed ? experiment : state.experiment,
    runExperiment: experiment,
    runDocument: document,
    kernels,
    matmul: presentKernels(kernels, steered),
    measuring: undefined,
    series,
    metrics: lastValues(series),
    phase_switches,
    steered,
    verdicts,
    asked: undefined,
    samples: samplesUpTo(state, step),
    keptVersion: state.keptVersion + 1,
    trace,
    scored_pairs: scored ? state.scored_pairs : undefined,
    timing: UNKNOWN_TIMING,
    arrivals: [],
    profile: state.profile && state.profile.step <= step ? state.profile : undefined,
    counts: undefined,
    warmBuffers: undefined,
  }
}

/** The newest samples at a step; of a run that another visit began, the last ones of its record. */
function samplesUpTo({ samples, kept }: LabState, step: number): LabState['samples'] {
  const known = samples.filter((batch) => batch.step <= step)
  const last = kept.samples.at(step)
  return known.length > 0 || !last ? known : [{ step: last.step, samples: last.item }]
}

const lastValues = (series: ReadonlyMap<string, Series>): Metrics =>
  Object.fromEntries(
    [...series].flatMap(([metric, { values, length }]) =>
      length > 0 ? [[metric, values[length - 1]]] : [],
    ),
  )

/** The settings follow what is done to the run, whether or not they differ from it elsewhere; those
 * of another experiment do not. */
export function applySteered(
  state: LabState,
  { entry, experiment, steering, refused }: Extract<LabEvent, { type: 'steered' }>,
): LabState {
  const steered = [...state.steered, { entry, refused }]
  const { runExperiment, runDocument } = state
  if (refused !== undefined || !runExperiment || !runDocument) return { ...state, steered }
  const isFollowed = isOfRun(state)
  const own =
    isFollowed || state.isBeside
      ? undefined
      : steerExperiment(state.experiment, entry, state.phase, state.phase_step)
  return {
    ...state,
    steered,
    ...(entry.kind === 'kernels' && { matmul: { ...state.matmul, ...steeredKernels([entry]) } }),
    runExperiment: experiment,
    runDocument: { ...runDocument, steering },
    experiment: isFollowed ? experiment : own?.ok ? own.experiment : state.experiment,
    // Other buffers may have been made: counting starts again.
    warmBuffers: undefined,
  }
}
