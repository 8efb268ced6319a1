// Measures how fast a run is by when its steps arrive, and counts its memory.

import { stepWork } from '../../document/experiment/costs/step_work.ts'
import type { PhaseDocument } from '../../document/experiment/fields/phases.ts'
import { resolvePhases } from '../../document/experiment/resolve.ts'
import type { Experiment } from '../../document/experiment/schema/schema.ts'
import { stepsToCome } from '../../document/experiment/steered/planned.ts'
import { appendMetrics, type Series } from '../../host/columns/series.ts'
import type { LabEvent } from '../../host/protocol/protocol.ts'
import type { Timing } from '../../record/run/run_parts.ts'
import { hasValidation, measuredPhases, timeLeft, withGap } from '../../record/run/time_left.ts'
import { runSoFar } from '../state/next_experiment.ts'
import type { LabState } from '../state/store.ts'

const MAX_ARRIVALS = 64
/** Only the last milliseconds count for the speed, as many as this, but at least two steps. */
const WINDOW_MS = 15_000

const MIN_WINDOW_MS = 100

/** The speed is computed once in so long, however many steps arrive: nobody reads it faster. */
const TIMING_MS = 250

/** The state after a step: its numbers in the columns, and the speed that its arrival tells.
 * `heardMs`: on the page's clock, for a step that does not say itself when it was done. */
export function applyStep(
  state: LabState,
  event: Extract<LabEvent, { type: 'step' }>,
  heardMs: number,
): LabState {
  const { step, phase, phase_step, at_ms = heardMs } = event
  const series = state.series as Map<string, Series>
  appendMetrics(series, step, event.metrics)
  const metrics = { ...state.metrics, ...event.metrics }
  const arrivals = [...state.arrivals, { step, at_ms }]
    .slice(-MAX_ARRIVALS)
    .filter((arrival, i, all) => i >= all.length - 2 || arrival.at_ms >= at_ms - WINDOW_MS)
  const before = state.arrivals.at(-1)
  const gap = before && { ms: at_ms - before.at_ms, isValidated: hasValidation(event.metrics) }
  const gaps = gap ? withGap(state.gaps, phase, gap) : state.gaps
  const after = { ...state, step, phase, phase_step, metrics, arrivals, gaps }
  const isTimed =
    before !== undefined &&
    phase === state.phase &&
    state.timing.steps_per_second !== undefined &&
    Math.floor(at_ms / TIMING_MS) === Math.floor(before.at_ms / TIMING_MS)
  return isTimed ? after : { ...after, timing: timingOf(after) }
}

function timingOf(state: LabState): Timing {
  const { arrivals, runExperiment, phase, metrics, step, gaps } = state
  const first = arrivals[0]
  const last = arrivals[arrivals.length - 1]
  const seconds = (last.at_ms - first.at_ms) / 1000
  // Two steps may arrive together: that says nothing about how long they took.
  if (!(seconds >= MIN_WINDOW_MS / 1000) || !runExperiment) return state.timing
  const steps_per_second = (last.step - first.step) / seconds
  const phases = resolvePhases(runExperiment)
  const current = phases[phase]
  const length = metrics['response_length/mean']
  const rows = current.kind === 'rl' ? current.rollout.train_batch_size * current.rollout.n : 0
  return {
    steps_per_second,
    tokens_per_second:
      rows > 0 && length !== undefined ? rows * length * steps_per_second : undefined,
    left: timeLeft({
      step,
      measured: measuredPhases(runExperiment.phases, gaps),
      toCome: stepsToCome(runSoFar(state)),
      test_freq: runExperiment.validation.test_freq,
      timesAs: (document, { phase = 0 }) =>
        workAgainst(runExperiment, document, runExperiment.phases[phase]),
    }),
  }
}

/** How many times the work of one phase's steps that of another's is; arithmetic and dispatches
 * count alike, as nobody knows which of them takes the time. */
function workAgainst(experiment: Experiment, one: PhaseDocument, other: PhaseDocument): number {
  const [own, known] = [stepWork(experiment, one), stepWork(experiment, other)]
  return (own.arithmetic / known.arithmetic + own.dispatches / known.dispatches) / 2
}

/** Memory as it is; counts of the last step, and what was created since the first. */
export function applyMemory(
  state: LabState,
  { counts, memory, planned_bytes, rollout_dtype }: Extract<LabEvent, { type: 'memory' }>,
): LabState {
  if (state.step < 1) return { ...state, memory, planned_bytes, rollout_dtype }
  // A panel that opens makes buffers of its own.
  const isOther = state.memory !== undefined && state.memory.probes !== memory.probes
  const warmBuffers = isOther ? counts.buffers : (state.warmBuffers ?? counts.buffers)
  return {
    ...state,
    memory,
    planned_bytes,
    rollout_dtype,
    warmBuffers,
    counts: {
      dispatches_per_step: state.metrics['perf/dispatches'],
      submits_per_step: state.metrics['perf/submits'],
      longest_dispatch_ms: state.metrics['perf/longest_dispatch_ms'],
      split_dispatches: state.metrics['perf/split_dispatches'],
      buffers_since_warmup: counts.buffers - warmBuffers,
    },
  }
}
