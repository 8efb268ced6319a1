// What the page knows of the lab. Events come in through `applyEvent`; nothing here knows the worker or the page.
import { createStore } from 'zustand/vanilla'
import type { AdapterFacts } from '../../kernels/device/adapter.ts'
import type { MemoryKind } from '../../kernels/device/tensor.ts'
import type { PhaseReason } from '../../rl/config/phase.ts'
import type { RolloutDType } from '../../rl/train/rollout_dtype.ts'
import { appendMetrics, Series } from '../columns/series.ts'
import { sameSettings, steerExperiment } from '../experiment/experiment.ts'
import { readKernels } from '../experiment/pinned_kernels.ts'
import { resolvePhases } from '../experiment/resolve.ts'
import type { Experiment } from '../experiment/schema.ts'
import type { SteeringEntry } from '../experiment/steering/actions.ts'
import { type RunSoFar, stepsToCome } from '../experiment/steering/planned.ts'
import { PRESETS } from '../presets/presets.ts'
import type { ResultCard } from '../protocol/card.ts'
import type {
  CheckpointEntry,
  CheckpointProblemCode,
  RestoreReason,
} from '../protocol/checkpoint_facts.ts'
import type { BrokenStep } from '../protocol/guard.ts'
import { type LabError, type LabEvent, PROTOCOL_VERSION } from '../protocol/protocol.ts'
import type {
  AskedPair,
  BenchmarkNumbers,
  MatmulChoice,
  Metrics,
  Peak,
  Profile,
  RolloutSample,
  ScoredPair,
  TokenTable,
} from '../protocol/results.ts'
import {
  cutKept,
  emptyKept,
  type KeptOfRun,
  keepGenerations,
  keepObservation,
  keepSamples,
  keepTrace,
} from './kept_run.ts'
import { type Gaps, type TimeLeft, timeLeft, withGap } from './time_left.ts'

export type LabStatus =
  | 'loading'
  | 'idle'
  | 'preparing'
  | 'running'
  | 'paused'
  /** For a person's verdicts. */
  | 'waiting'
  | 'finished'
  | 'failed'
  /** A past run that ended before its last step: dropped, or left by its page. */
  | 'stopped'

export interface PhaseSwitch {
  /** The phase begins with the step after this one. */
  readonly step: number
  readonly phase: number
  readonly reason: PhaseReason
}

/** Something that was done to the run while it went on. */
export interface SteeringMark {
  readonly entry: SteeringEntry
  /** Why it was not done after all. */
  readonly refused: string | undefined
}

/** How fast the run is, from the arrival of its steps; undefined until that can be said. */
export interface Timing {
  readonly steps_per_second: number | undefined
  /** Response tokens; undefined in phases that sample none. */
  readonly tokens_per_second: number | undefined
  /** Of all steps that are planned, as far as their kind of phase was measured. */
  readonly left: TimeLeft
}

/** What the GPU does: the last step's own counts, and the device layer's. */
export interface StepCounts {
  readonly dispatches_per_step: number | undefined
  readonly submits_per_step: number | undefined
  /** The longest kernel call that was measured, and the recorded calls that run in parts; not on software adapters. */
  readonly longest_dispatch_ms: number | undefined
  readonly split_dispatches: number | undefined
  /** Buffers created since the first training step was done: 0 when all is well. */
  readonly buffers_since_warmup: number | undefined
}

/** What one step cost. */
export interface StepProfile {
  readonly step: number
  readonly profile: Profile
  /** The adapter's largest rates; undefined where they could not be probed. */
  readonly peak: Peak | undefined
}

/** What a person is asked in the reward_model phase `phase`, and has said. */
export interface AskedPairs {
  readonly phase: number
  readonly pairs: readonly AskedPair[]
  readonly pending: number
  readonly given: number
  readonly min_pairs: number
}

/** A run went back to an earlier state, or began with one. */
export interface Restored {
  readonly why: RestoreReason
  readonly step: number
  /** What is not as it was where the state was kept; then the numbers agree to rounding alone. */
  readonly differs: string | undefined
}

/** The GPU was lost, or the worker has hung; the run goes back to `step`. */
export interface Loss {
  readonly what: 'gpu' | 'worker'
  readonly step: number
  readonly message: string
  /** A person has to say that it goes on. */
  readonly is_waiting: boolean
  /** The browser gives no GPU at present. */
  readonly is_blocked: boolean
}

export interface CheckpointProblem {
  readonly code: CheckpointProblemCode
  readonly message: string
}

export type Benchmark =
  | { readonly status: 'none' }
  | { readonly status: 'running'; readonly message: string }
  | { readonly status: 'done'; readonly numbers: BenchmarkNumbers }
  | { readonly status: 'failed'; readonly error: LabError }

type MemoryEvent = Extract<LabEvent, { type: 'memory' }>

export interface LabState {
  readonly status: LabStatus
  readonly adapter: AdapterFacts | undefined
  /** Counts up with every run. */
  readonly run: number
  /** The id that the run is kept under; '' while there is none. */
  readonly record: string
  /** The checkpoint of another run that this one began with. */
  readonly parent: { readonly record: string; readonly step: number } | undefined
  /** Another object for each time. */
  readonly restored: Restored | undefined
  /** The newest one. */
  readonly loss: Loss | undefined
  /** Steps that were not finite, and the step that the run went back to and waits at; until it goes on. */
  readonly guarded: { readonly step: number; readonly broken: readonly BrokenStep[] } | undefined
  /** That are kept of this run, oldest first, as far as was told. */
  readonly checkpoints: readonly CheckpointEntry[]
  readonly checkpoint_problem: CheckpointProblem | undefined
  /** The experiment that the settings show and that the next run trains. */
  readonly experiment: Experiment
  /** What the run trains now, with all that was changed while it went on; undefined while there is no run. */
  readonly run_experiment: Experiment | undefined
  /** The document that does the same run again: as it began, and its steering. */
  readonly run_document: Experiment | undefined
  /** What was done to the run, refusals included, in order. */
  readonly steered: readonly SteeringMark[]
  /** The run's kernels of matrix products by shape class, chosen by measuring or pinned; undefined for the default ones. */
  readonly matmul: MatmulChoice | undefined
  /** The experiment's field that pins `matmul`; '' where that is undefined. */
  readonly kernels: string
  /** The preset that `experiment` was last taken from. */
  readonly preset_id: string
  /** Bytes of GPU memory that a run of the settings would take, and those that are allocated without asking; undefined until told. */
  readonly plan: { readonly bytes: number; readonly allowed_bytes: number } | undefined
  /** What could not be understood of the link. */
  readonly notices: readonly string[]
  readonly phase: number
  readonly phase_step: number
  readonly phase_switches: readonly PhaseSwitch[]
  readonly step: number
  /** The last known value of every metric. */
  readonly metrics: Metrics
  /** Mutable columns by metric; `step` is their version, so subscribe to `step`, then read these. */
  readonly series: ReadonlyMap<string, Series>
  /** Of the last steps that sampled, oldest first. */
  readonly samples: readonly { readonly step: number; readonly samples: readonly RolloutSample[] }[]
  /** What steps left for looking back; mutable, and `kept_version` counts its changes. */
  readonly kept: KeptOfRun
  readonly kept_version: number
  /** Of the last reward_model phase that has begun. */
  readonly asked: AskedPairs | undefined
  /** What was said in each reward_model phase, as the experiment's field holds it, by index of the phase. */
  readonly verdicts: Readonly<Record<number, string>>
  /** Held-out pairs as the reward model scored them last. */
  readonly scored_pairs:
    | { readonly step: number; readonly pairs: readonly ScoredPair[] }
    | undefined
  readonly memory: Readonly<Record<MemoryKind, number>> | undefined
  readonly counts: StepCounts | undefined
  /** What became of `rollout.dtype: float16`; undefined where no phase asks for it. */
  readonly rollout_dtype: RolloutDType | undefined
  readonly timing: Timing
  /** Of the last step that was measured. */
  readonly profile: StepProfile | undefined
  /** A pause was asked for, and the step in flight is not done yet. */
  readonly is_pausing: boolean
  /** A step to be measured was asked for and has not come yet. */
  readonly is_profiling: boolean
  /** Of the last step that was told of token by token. */
  readonly trace: { readonly step: number; readonly table: TokenTable } | undefined
  /** Such a step was asked for and has not come yet. */
  readonly is_tracing: boolean
  readonly benchmark: Benchmark
  /** Someone else's result, from a link. */
  readonly shared_card: ResultCard | undefined
  readonly error: LabError | undefined
  /** What the worker is busy with while it prepares. */
  readonly message: string
  /** When the last steps arrived; the window that `timing` is computed over. */
  readonly arrivals: readonly { readonly step: number; readonly at_ms: number }[]
  /** How long the newest steps of each phase took. */
  readonly gaps: Gaps
  /** Buffers created by the time of the first training step. */
  readonly warm_buffers: number | undefined
}

const MAX_SAMPLE_STEPS = 8
const MAX_ARRIVALS = 64
/** Only the last so many milliseconds count for the speed, but at least two steps. */
const WINDOW_MS = 15_000

const MIN_WINDOW_MS = 100

const UNKNOWN: Timing = {
  steps_per_second: undefined,
  tokens_per_second: undefined,
  left: { seconds: undefined, untimed_steps: 0, is_about: false },
}

/** All that belongs to one run, as it is before its first event. */
export const emptyRun = () =>
  ({
    record: '',
    parent: undefined,
    restored: undefined,
    loss: undefined,
    guarded: undefined,
    checkpoints: [],
    checkpoint_problem: undefined,
    run_experiment: undefined,
    run_document: undefined,
    steered: [],
    matmul: undefined,
    kernels: '',
    phase: 0,
    phase_step: 0,
    phase_switches: [],
    step: 0,
    metrics: {},
    series: new Map<string, Series>(),
    samples: [],
    kept: emptyKept(),
    kept_version: 0,
    asked: undefined,
    verdicts: {},
    scored_pairs: undefined,
    memory: undefined,
    counts: undefined,
    rollout_dtype: undefined,
    timing: UNKNOWN,
    profile: undefined,
    is_pausing: false,
    is_profiling: false,
    trace: undefined,
    is_tracing: false,
    error: undefined,
    message: '',
    arrivals: [],
    gaps: {} as Gaps,
    warm_buffers: undefined,
  }) satisfies Partial<LabState>

/** A page that has just been opened. */
export const initialState = (): LabState => ({
  ...emptyRun(),
  status: 'loading',
  adapter: undefined,
  run: 0,
  experiment: PRESETS[0].experiment,
  preset_id: PRESETS[0].id,
  plan: undefined,
  notices: [],
  benchmark: { status: 'none' },
  shared_card: undefined,
})

export const labStore = createStore<LabState>()(initialState)

/**
 * The state after one event that arrived at `at_ms`. Appends to the columns in place, returns the rest anew. Events of
 * a run that is no longer current change nothing.
 */
export function applyEvent(state: LabState, event: LabEvent, at_ms: number): LabState {
  if ('run' in event && event.run !== undefined && event.run !== state.run) return state
  switch (event.type) {
    case 'hello':
      return event.protocol === PROTOCOL_VERSION ? state : applyEvent(state, OUTDATED, at_ms)
    case 'adapter':
      return {
        ...state,
        adapter: event.adapter,
        status: state.status === 'loading' ? 'idle' : state.status,
      }
    case 'plan':
      return { ...state, plan: { bytes: event.bytes, allowed_bytes: event.allowed_bytes } }
    case 'progress':
      return { ...state, message: event.message }
    case 'kernels':
      return { ...state, matmul: event.matmul, kernels: event.kernels }
    case 'status':
      // A pause is no slow step: the window begins anew.
      return {
        ...state,
        status: event.status,
        message: '',
        arrivals: [],
        is_pausing: state.is_pausing && event.status === 'preparing',
        is_profiling: state.is_profiling && event.status !== 'finished',
        is_tracing: state.is_tracing && event.status !== 'finished',
        guarded: event.status === 'running' ? undefined : state.guarded,
      }
    case 'restored':
      return applyRestored(state, event)
    case 'guarded':
      return { ...state, guarded: { step: event.step, broken: event.broken }, arrivals: [] }
    case 'lost': {
      const { step, message, is_waiting, is_blocked } = event
      const loss = { what: 'gpu', step, message, is_waiting, is_blocked } as const
      return { ...state, loss, arrivals: [] }
    }
    case 'checkpoint': {
      // The first one made a buffer to read the state back: counting begins anew.
      const is_first = state.checkpoints.length === 0
      const warm_buffers = is_first ? undefined : state.warm_buffers
      return {
        ...state,
        checkpoints: event.entries,
        checkpoint_problem: isLasting(state.checkpoint_problem)
          ? state.checkpoint_problem
          : undefined,
        warm_buffers,
      }
    }
    case 'checkpoint_problem':
      return { ...state, checkpoint_problem: { code: event.code, message: event.message } }
    case 'alive':
    case 'checkpoint_file':
    case 'checkpoint_file_failed':
      return state
    case 'phase': {
      const { step, phase, reason } = event
      const phase_switches = [...state.phase_switches, { step, phase, reason }]
      return { ...state, phase, phase_step: 0, phase_switches, arrivals: [] }
    }
    case 'steered':
      return applySteered(state, event)
    case 'step':
      return applyStep(state, event, at_ms)
    case 'samples': {
      const { step, samples } = event
      keepSamples(state.kept, step, samples)
      return {
        ...state,
        kept_version: state.kept_version + 1,
        samples: [...state.samples, { step, samples }].slice(-MAX_SAMPLE_STEPS),
      }
    }
    case 'generations':
      keepGenerations(state.kept, event.step, event.generations)
      return { ...state, kept_version: state.kept_version + 1 }
    case 'pairs': {
      const { phase, pairs, pending, given, min_pairs, verdicts } = event
      return {
        ...state,
        asked: { phase, pairs, pending, given, min_pairs },
        verdicts: { ...state.verdicts, [phase]: verdicts },
      }
    }
    case 'scored_pairs':
      return { ...state, scored_pairs: { step: event.step, pairs: event.pairs } }
    case 'memory':
      return applyMemory(state, event)
    case 'profile': {
      const { step, profile, peak } = event
      // The next step waited while the adapter was probed: that is not its speed.
      return { ...state, profile: { step, profile, peak }, is_profiling: false, arrivals: [] }
    }
    case 'trace': {
      const { step, table } = event
      keepTrace(state.kept, step, table)
      const kept_version = state.kept_version + 1
      return { ...state, kept_version, trace: { step, table }, is_tracing: false }
    }
    case 'observed':
      keepObservation(state.kept, event.step, event.observation)
      return { ...state, kept_version: state.kept_version + 1 }
    case 'benchmark_progress':
      return { ...state, benchmark: { status: 'running', message: event.message } }
    case 'benchmark':
      return { ...state, benchmark: { status: 'done', numbers: event.numbers } }
    case 'benchmark_failed':
      return { ...state, benchmark: { status: 'failed', error: event.error } }
    case 'failed':
      return {
        ...state,
        status: 'failed',
        error: event.error,
        message: '',
        is_pausing: false,
        is_profiling: false,
        is_tracing: false,
        benchmark: state.benchmark.status === 'running' ? { status: 'none' } : state.benchmark,
      }
    default:
      event satisfies never
      // Another version's word: nothing that this page could show.
      return state
  }
}

/** A checkpoint that is kept does not end it: it is kept in memory, or another one than was asked for. */
const isLasting = (problem: CheckpointProblem | undefined): boolean =>
  problem?.code === 'unavailable' || problem?.code === 'corrupt'

/** What was known of later steps is no longer so. */
function applyRestored(state: LabState, event: Extract<LabEvent, { type: 'restored' }>): LabState {
  const { why, step, phase, phase_step, experiment, document, history, kernels, differs } = event
  const { phase_switches, steered, verdicts } = history
  const series = new Map(
    Object.entries(history.series).map(([metric, { steps, values, thinned }]) => [
      metric,
      Series.of(steps, values, thinned),
    ]),
  )
  cutKept(state.kept, step)
  const pinned = readKernels(kernels)
  const { run_experiment } = state
  const is_followed = run_experiment !== undefined && sameSettings(state.experiment, run_experiment)
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
    experiment: is_followed ? experiment : state.experiment,
    run_experiment: experiment,
    run_document: document,
    kernels,
    matmul: kernels !== '' && pinned.ok ? pinned.choice : undefined,
    series,
    metrics: lastValues(series),
    phase_switches,
    steered,
    verdicts,
    asked: undefined,
    samples: state.samples.filter((kept) => kept.step <= step),
    kept_version: state.kept_version + 1,
    trace,
    scored_pairs: scored ? state.scored_pairs : undefined,
    timing: UNKNOWN,
    arrivals: [],
    profile: state.profile && state.profile.step <= step ? state.profile : undefined,
    counts: undefined,
    warm_buffers: undefined,
  }
}

const lastValues = (series: ReadonlyMap<string, Series>): Metrics =>
  Object.fromEntries(
    [...series].flatMap(([metric, { values, length }]) =>
      length > 0 ? [[metric, values[length - 1]]] : [],
    ),
  )

/** The settings follow what is done to the run, whether or not they differ from it elsewhere. */
function applySteered(
  state: LabState,
  { entry, experiment, steering, refused }: Extract<LabEvent, { type: 'steered' }>,
): LabState {
  const steered = [...state.steered, { entry, refused }]
  const { run_experiment, run_document } = state
  if (refused !== undefined || !run_experiment || !run_document) return { ...state, steered }
  const is_followed = sameSettings(state.experiment, run_experiment)
  const own = is_followed
    ? undefined
    : steerExperiment(state.experiment, entry, state.phase, state.phase_step)
  return {
    ...state,
    steered,
    run_experiment: experiment,
    run_document: { ...run_document, steering },
    experiment: is_followed ? experiment : own?.ok ? own.experiment : state.experiment,
    // Other buffers may have been made: counting begins anew.
    warm_buffers: undefined,
  }
}

/**
 * The experiment that Train begins and a link carries: the run's own document while the settings are the run's, so that
 * both do the same run again; else what the settings show, from its first step.
 */
export function nextExperiment({ experiment, run_experiment, run_document }: LabState): Experiment {
  if (!run_experiment || !run_document) return experiment
  if (experiment === run_document || sameSettings(experiment, run_experiment)) return run_document
  return experiment.steering.length > 0 ? withoutSteering(experiment) : experiment
}

const unsteered = new WeakMap<Experiment, Experiment>()

/** The same object for the same experiment. */
function withoutSteering(experiment: Experiment): Experiment {
  const known = unsteered.get(experiment) ?? { ...experiment, steering: [] }
  unsteered.set(experiment, known)
  return known
}

const OUTDATED: LabEvent = {
  type: 'failed',
  run: undefined,
  error: {
    name: 'ProtocolError',
    code: 'worker',
    message: 'The page and its worker are of different versions. Reload the page.',
  },
}

function applyStep(
  state: LabState,
  event: Extract<LabEvent, { type: 'step' }>,
  at_ms: number,
): LabState {
  const { step, phase, phase_step } = event
  const series = state.series as Map<string, Series>
  appendMetrics(series, step, event.metrics)
  const metrics = { ...state.metrics, ...event.metrics }
  const arrivals = [...state.arrivals, { step, at_ms }]
    .slice(-MAX_ARRIVALS)
    .filter((arrival, i, all) => i >= all.length - 2 || arrival.at_ms >= at_ms - WINDOW_MS)
  const before = state.arrivals.at(-1)
  const is_validated = Object.keys(event.metrics).some((name) => name.startsWith('val-'))
  const gap = before && { ms: at_ms - before.at_ms, is_validated }
  const gaps = gap ? withGap(state.gaps, phase, gap) : state.gaps
  const after = { ...state, step, phase, phase_step, metrics, arrivals, gaps }
  return { ...after, timing: timingOf(after) }
}

/** What planned.ts goes by: the run, or the one that the settings would begin. */
export function runSoFar(state: LabState): RunSoFar {
  const { run_experiment, run_document, experiment } = state
  const { steering } = run_document ?? experiment
  return { ...state, experiment: run_experiment ?? experiment, steering }
}

function timingOf(state: LabState): Timing {
  const { arrivals, run_experiment, phase, metrics, step, gaps } = state
  const first = arrivals[0]
  const last = arrivals[arrivals.length - 1]
  const seconds = (last.at_ms - first.at_ms) / 1000
  // Two steps may arrive together: that says nothing about how long they took.
  if (!(seconds >= MIN_WINDOW_MS / 1000) || !run_experiment) return state.timing
  const steps_per_second = (last.step - first.step) / seconds
  const phases = resolvePhases(run_experiment)
  const current = phases[phase]
  const length = metrics['response_length/mean']
  const rows = current.kind === 'rl' ? current.rollout.train_batch_size * current.rollout.n : 0
  return {
    steps_per_second,
    tokens_per_second:
      rows > 0 && length !== undefined ? rows * length * steps_per_second : undefined,
    left: timeLeft({
      ...{ step, gaps, phases: run_experiment.phases },
      to_come: stepsToCome(runSoFar(state)),
      test_freq: run_experiment.validation.test_freq,
    }),
  }
}

/** Memory as it is; counts of the last step, and what was created since the first. */
function applyMemory(state: LabState, { counts, memory, rollout_dtype }: MemoryEvent): LabState {
  if (state.step < 1) return { ...state, memory, rollout_dtype }
  // A panel that opens makes buffers of its own.
  const is_other = state.memory !== undefined && state.memory.probes !== memory.probes
  const warm_buffers = is_other ? counts.buffers : (state.warm_buffers ?? counts.buffers)
  return {
    ...state,
    memory,
    rollout_dtype,
    warm_buffers,
    counts: {
      dispatches_per_step: state.metrics['perf/dispatches'],
      submits_per_step: state.metrics['perf/submits'],
      longest_dispatch_ms: state.metrics['perf/longest_dispatch_ms'],
      split_dispatches: state.metrics['perf/split_dispatches'],
      buffers_since_warmup: counts.buffers - warm_buffers,
    },
  }
}
