// Computes the state after an event of the worker: one entry for each type of event.

import { type LabEvent, PROTOCOL_VERSION } from '../../host/protocol/protocol.ts'
import {
  keepGenerations,
  keepObservation,
  keepSamples,
  keepTrace,
} from '../../record/run/kept_run.ts'
import type { CheckpointProblem } from '../../record/run/run_parts.ts'
import { isOfRun, settledSettings } from '../state/next_experiment.ts'
import type { LabState } from '../state/store.ts'
import { applyRestored, applySteered } from './restored.ts'
import { applyMemory, applyStep } from './timing.ts'

const MAX_SAMPLE_STEPS = 8

type EventOf<T extends LabEvent['type']> = Extract<LabEvent, { type: T }>
type Apply<E extends LabEvent> = (state: LabState, event: E, atMs: number) => LabState

/** The state after one event that arrived at `atMs`. Appends to the columns in place and returns a
 * new state. Events of a run that is no longer current change nothing. */
export function applyEvent(state: LabState, event: LabEvent, atMs: number): LabState {
  if ('run' in event && event.run !== undefined && event.run !== state.run) return state
  // A worker of another version may send what this page cannot show.
  if (!Object.hasOwn(APPLY, event.type)) return state
  return (APPLY[event.type] as Apply<LabEvent>)(state, event, atMs)
}

const OUTDATED: EventOf<'failed'> = {
  type: 'failed',
  run: undefined,
  error: {
    name: 'ProtocolError',
    code: 'worker',
    message: 'The page and its worker are of different versions. Reload the page.',
  },
}

/** A checkpoint that is kept does not end it: it is kept in memory, or another one than was asked
 * for. */
const isLasting = (problem: CheckpointProblem | undefined): boolean =>
  problem?.code === 'unavailable' || problem?.code === 'corrupt'

const applyFailed: Apply<EventOf<'failed'>> = (state, { error }) => ({
  ...state,
  status: 'failed',
  error,
  message: '',
  isPausing: false,
  isProfiling: false,
  isTracing: false,
  benchmark: state.benchmark.status === 'running' ? { status: 'none' } : state.benchmark,
})

/** The settings at the end of a run: those that have left it keep what it has done. */
const settledNow = (state: LabState): LabState['experiment'] => {
  const { experiment, isBeside } = state
  return isBeside || isOfRun(state) ? experiment : settledSettings(experiment, state)
}

const same = (state: LabState): LabState => state

const APPLY: { readonly [T in LabEvent['type']]: Apply<EventOf<T>> } = {
  hello: (state, { protocol }, atMs) =>
    protocol === PROTOCOL_VERSION ? state : applyFailed(state, OUTDATED, atMs),
  adapter: (state, { adapter }) => ({
    ...state,
    adapter,
    status: state.status === 'loading' ? 'idle' : state.status,
  }),
  plan: (state, { type: _, ...plan }) => ({ ...state, plan }),
  progress: (state, { message }) => ({ ...state, message }),
  kernels: (state, { matmul, kernels }) => ({ ...state, matmul, kernels }),
  kernels_measured: (state, { done, of, isOver }) => ({
    ...state,
    measuring: { done, of, isOver },
  }),
  reward_tried: (state, { remarks }) => ({ ...state, rewardRemarks: remarks }),
  status: (state, { status }) => ({
    ...state,
    status,
    experiment: status === 'finished' ? settledNow(state) : state.experiment,
    message: '',
    // A pause is no slow step: the window starts again.
    arrivals: [],
    isPausing: state.isPausing && status === 'preparing',
    isProfiling: state.isProfiling && status !== 'finished',
    isTracing: state.isTracing && status !== 'finished',
    guarded: status === 'running' ? undefined : state.guarded,
  }),
  restored: applyRestored,
  guarded: (state, { step, broken }) => ({ ...state, guarded: { step, broken }, arrivals: [] }),
  lost: (state, { step, message, is_waiting, is_blocked }) => ({
    ...state,
    loss: { what: 'gpu', step, message, is_waiting, is_blocked },
    arrivals: [],
  }),
  checkpoint: (state, { entries }) => ({
    ...state,
    checkpoints: entries,
    checkpoint_problem: isLasting(state.checkpoint_problem) ? state.checkpoint_problem : undefined,
    // The first one made a buffer to read the state back: counting starts again.
    warmBuffers: state.checkpoints.length === 0 ? undefined : state.warmBuffers,
  }),
  checkpoint_problem: (state, { code, message }) => ({
    ...state,
    checkpoint_problem: { code, message },
  }),
  alive: same,
  run_program: same,
  waits: same,
  checkpoint_file: same,
  checkpoint_file_failed: same,
  phase: (state, { step, phase, reason }) => ({
    ...state,
    phase,
    phase_step: 0,
    phase_switches: [...state.phase_switches, { step, phase, reason }],
    arrivals: [],
  }),
  steered: applySteered,
  step: applyStep,
  samples: (state, { step, samples }) => {
    keepSamples(state.kept, step, samples)
    return {
      ...state,
      keptVersion: state.keptVersion + 1,
      samples: [...state.samples, { step, samples }].slice(-MAX_SAMPLE_STEPS),
    }
  },
  generations: (state, { step, generations }) => {
    keepGenerations(state.kept, step, generations)
    return { ...state, keptVersion: state.keptVersion + 1 }
  },
  pairs: (state, { phase, pairs, pending, given, min_pairs, verdicts }) => ({
    ...state,
    asked: { phase, pairs, pending, given, min_pairs },
    verdicts: { ...state.verdicts, [phase]: verdicts },
  }),
  scored_pairs: (state, { step, pairs }) => ({ ...state, scored_pairs: { step, pairs } }),
  memory: applyMemory,
  profile: (state, { step, profile, peak }) => ({
    ...state,
    profile: { step, profile, peak },
    isProfiling: false,
    // The next step waited while the adapter was probed: that is not its speed.
    arrivals: [],
  }),
  trace: (state, { step, table }) => {
    keepTrace(state.kept, step, table)
    const keptVersion = state.keptVersion + 1
    return { ...state, keptVersion, trace: { step, table }, isTracing: false }
  },
  observed: (state, { step, observation }) => {
    keepObservation(state.kept, step, observation)
    return { ...state, keptVersion: state.keptVersion + 1 }
  },
  observing: (state, { step }) => ({ ...state, observing: step }),
  // Heard by who asked (page/opened/).
  looked: same,
  look_failed: same,
  touched: same,
  touch_progress: same,
  touch_failed: same,
  // Heard where models are shown (page/opened/).
  model_opened: same,
  model_found: same,
  model_progress: same,
  models_kept: same,
  model_saved: same,
  model_read: same,
  model_written: same,
  model_directed: same,
  model_start: same,
  model_failed: same,
  // Heard by what estimates (page/paces/).
  speed: same,
  benchmark_progress: (state, { message }) => ({
    ...state,
    benchmark: { status: 'running', message },
  }),
  benchmark: (state, { numbers }) => ({ ...state, benchmark: { status: 'done', numbers } }),
  benchmark_failed: (state, { error }) => ({ ...state, benchmark: { status: 'failed', error } }),
  failed: applyFailed,
}
