// Holds the state of the lab that the page shows, in one store. It knows neither the worker nor the
// page.
import { createStore } from 'zustand/vanilla'
import type { Experiment } from '../../document/experiment/schema/schema.ts'
import { PRESETS } from '../../document/presets/presets.ts'
import type { Series } from '../../host/columns/series.ts'
import type { ResultCard } from '../../host/protocol/card.ts'
import type { CheckpointEntry } from '../../host/protocol/checkpoint_facts.ts'
import type { BrokenStep } from '../../host/protocol/guard.ts'
import type { LabError, LabEvent } from '../../host/protocol/protocol.ts'
import type {
  MatmulChoice,
  Metrics,
  RolloutSample,
  ScoredPair,
  TokenTable,
} from '../../host/protocol/results.ts'
import type { AdapterFacts } from '../../kernels/device/adapter.ts'
import type { MemoryKind } from '../../kernels/device/base/tensor.ts'
import { emptyKept, type KeptOfRun } from '../../record/run/kept_run.ts'
import {
  type AskedPairs,
  type Benchmark,
  type CheckpointProblem,
  type LabStatus,
  type Loss,
  type PhaseSwitch,
  type Restored,
  type SteeringMark,
  type StepCounts,
  type StepProfile,
  type Timing,
  UNKNOWN_TIMING,
  type WrongField,
} from '../../record/run/run_parts.ts'
import type { Gaps } from '../../record/run/time_left.ts'
import type { RolloutDType } from '../../rl/train/rollout_dtype.ts'

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
  /** Steps that were not finite, and the step that the run went back to and waits at; until it
   * continues. */
  readonly guarded: { readonly step: number; readonly broken: readonly BrokenStep[] } | undefined
  /** Those kept of this run, oldest first, as far as the worker has reported. */
  readonly checkpoints: readonly CheckpointEntry[]
  readonly checkpoint_problem: CheckpointProblem | undefined
  /** The experiment that the settings show and that the next run trains. */
  readonly experiment: Experiment
  /** What the run trains now, with all that was changed while it went on; undefined while there is
   * no run. */
  readonly runExperiment: Experiment | undefined
  /** The document that does the same run again: as it began, and its steering. */
  readonly runDocument: Experiment | undefined
  /** The preset that the run was taken from; undefined while there is no run. */
  readonly runPreset: string | undefined
  /** The settings are another experiment, which was opened while the run was on the page: what is
   * done to one of them is not done to the other. */
  readonly isBeside: boolean
  /** What was done to the run, refusals included, in order. */
  readonly steered: readonly SteeringMark[]
  /** The run's kernels of matrix products by shape class, chosen by measuring or pinned; undefined
   * for the default ones. */
  readonly matmul: MatmulChoice | undefined
  /** The experiment's field that pins those that the run began with; '' for the default ones. */
  readonly kernels: string
  /** How far the measuring of kernels beside the run is; undefined where nothing is measured. */
  readonly measuring:
    | { readonly done: number; readonly of: number; readonly isOver: boolean }
    | undefined
  /** What is typed in the settings and does not hold; the experiment has the values from before. */
  readonly wrongFields: readonly WrongField[]
  /** The preset that `experiment` was last taken from. */
  readonly preset_id: string
  /** Bytes of GPU memory that a run of the settings would take, and those that are allocated
   * without asking; undefined until the worker reports them. */
  readonly plan: Omit<Extract<LabEvent, { type: 'plan' }>, 'type'> | undefined
  /** What could not be understood of the link. */
  readonly notices: readonly string[]
  readonly phase: number
  readonly phase_step: number
  readonly phase_switches: readonly PhaseSwitch[]
  readonly step: number
  /** The last known value of every metric. */
  readonly metrics: Metrics
  /** Mutable columns by metric; `step` is their version, so subscribe to `step`, then read
   * these. */
  readonly series: ReadonlyMap<string, Series>
  /** Of the last steps that sampled, oldest first. */
  readonly samples: readonly { readonly step: number; readonly samples: readonly RolloutSample[] }[]
  /** What steps left for looking back; mutable, and `keptVersion` counts its changes. */
  readonly kept: KeptOfRun
  readonly keptVersion: number
  /** The next step that is looked into because panels ask, where not every step is. */
  readonly observing: number | undefined
  /** Of the last phase of pairs that has begun. */
  readonly asked: AskedPairs | undefined
  /** What was said in each phase of pairs, as the experiment's field holds it, by index of the
   * phase. */
  readonly verdicts: Readonly<Record<number, string>>
  /** Held-out pairs as the reward model scored them last. */
  readonly scored_pairs:
    | { readonly step: number; readonly pairs: readonly ScoredPair[] }
    | undefined
  readonly memory: Readonly<Record<MemoryKind, number>> | undefined
  /** Bytes that the run was planned to take before it began. */
  readonly planned_bytes: number | undefined
  readonly counts: StepCounts | undefined
  /** What became of `rollout.dtype: float16`; undefined where no phase asks for it. */
  readonly rollout_dtype: RolloutDType | undefined
  /** The vocabulary of a past run, as its record says it; undefined where it is the task's. */
  readonly tokens: readonly string[] | undefined
  readonly timing: Timing
  /** Of the last step that was measured. */
  readonly profile: StepProfile | undefined
  /** A pause was asked for, and the step in flight is not done yet. */
  readonly isPausing: boolean
  /** A step to be measured was asked for and has not come yet. */
  readonly isProfiling: boolean
  /** Of the last step that was traced token by token. */
  readonly trace: { readonly step: number; readonly table: TokenTable } | undefined
  /** Such a step was asked for and has not come yet. */
  readonly isTracing: boolean
  readonly benchmark: Benchmark
  /** Someone else's result, from a link. */
  readonly sharedCard: ResultCard | undefined
  /** What the trial of its reward found. */
  readonly rewardRemarks: readonly string[]
  readonly error: LabError | undefined
  /** What the worker is busy with while it prepares. */
  readonly message: string
  /** When the last steps arrived; the window that `timing` is computed over. */
  readonly arrivals: readonly { readonly step: number; readonly at_ms: number }[]
  /** How long the newest steps of each phase took. */
  readonly gaps: Gaps
  /** Buffers created by the time of the first training step. */
  readonly warmBuffers: number | undefined
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
    runExperiment: undefined,
    runDocument: undefined,
    runPreset: undefined,
    isBeside: false,
    steered: [],
    matmul: undefined,
    kernels: '',
    measuring: undefined,
    phase: 0,
    phase_step: 0,
    phase_switches: [],
    step: 0,
    metrics: {},
    series: new Map<string, Series>(),
    samples: [],
    kept: emptyKept(),
    keptVersion: 0,
    observing: undefined,
    asked: undefined,
    verdicts: {},
    scored_pairs: undefined,
    memory: undefined,
    planned_bytes: undefined,
    counts: undefined,
    rollout_dtype: undefined,
    tokens: undefined,
    timing: UNKNOWN_TIMING,
    profile: undefined,
    isPausing: false,
    isProfiling: false,
    trace: undefined,
    isTracing: false,
    rewardRemarks: [],
    error: undefined,
    message: '',
    arrivals: [],
    gaps: {} as Gaps,
    warmBuffers: undefined,
  }) satisfies Partial<LabState>

/** A page that has just been opened. */
export const initialState = (): LabState => ({
  ...emptyRun(),
  status: 'loading',
  adapter: undefined,
  run: 0,
  experiment: PRESETS[0].experiment,
  wrongFields: [],
  preset_id: PRESETS[0].id,
  plan: undefined,
  notices: [],
  benchmark: { status: 'none' },
  sharedCard: undefined,
})

export const labStore = createStore<LabState>()(initialState)
