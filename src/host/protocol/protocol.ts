// Declares everything that crosses the worker boundary, in both directions. Plain data only.

import type { ContentFile } from '../../document/content/content.ts'
import type { Experiment } from '../../document/experiment/schema/schema.ts'
import type { SteeringAction, SteeringEntry } from '../../document/experiment/steering/actions.ts'
import type { AdapterFacts } from '../../kernels/device/adapter.ts'
import type { GpuErrorCode } from '../../kernels/device/base/errors.ts'
import type { MemoryKind } from '../../kernels/device/base/tensor.ts'
import type { GpuCounts } from '../../kernels/device/open_device.ts'
import type { Profile } from '../../kernels/device/timing/profiler.ts'
import type { Peak } from '../../kernels/peak/peak.ts'
import type { PhaseReason } from '../../rl/config/phase.ts'
import type { TokenTable } from '../../rl/look/token_table.ts'
import type { AskedPair } from '../../rl/reward/preferences.ts'
import type { ScoredPair } from '../../rl/reward/scored_pairs.ts'
import type { Generation } from '../../rl/train/parts/step_result.ts'
import type { RolloutDType } from '../../rl/train/rollout_dtype.ts'
import type { ProgramAnswers, RunProgram } from '../sandbox/messages.ts'
import type {
  CheckpointEntry,
  CheckpointProblemCode,
  CheckpointSettings,
  CheckpointSource,
  PlainHistory,
  RestoreReason,
} from './checkpoint_facts.ts'
import type { BrokenStep } from './guard.ts'
import type { KernelEvent } from './kernel_choice.ts'
import type { LookCommand, LookEvent } from './look.ts'
import type { Observation, ObservationRequest } from './observation.ts'
import type { ModelCommand, ModelEvent } from './opened_model.ts'
import type { PlanCommand, PlanEvent } from './plan.ts'
import type { AdapterSpeed, BenchmarkNumbers, Metrics, RolloutSample } from './results.ts'
import type { TouchCommand, TouchEvent } from './touch.ts'

/** Bumped whenever a message changes its meaning; both ends compare it in `hello`. */
export const PROTOCOL_VERSION = 5

export type LabCommand = RunCommand | ModelCommand | ProgramAnswers

export type RunCommand =
  | LookCommand
  | TouchCommand
  /** Opens the adapter, so that its name shows before anything is trained. Answered by `adapter` or
   * `failed`. */
  | { readonly type: 'open' }
  /** Drops any earlier run and starts this one; `paused` stops before the first step. */
  | {
      readonly type: 'start'
      readonly run: number
      /** The id that the run is kept under. */
      readonly record: string
      readonly experiment: Experiment
      /** The files that the experiment names; absent where the caller has loaded them. */
      readonly contents?: readonly ContentFile[] | undefined
      /** The checkpoint to continue from; its own experiment counts then. */
      readonly from?: CheckpointSource | undefined
      readonly checkpoints?: CheckpointSettings | undefined
      readonly paused: boolean
      /** What a run last gave the page to remember of kernels. */
      readonly kernel_cache?: string | undefined
      /** What the panels that are open show of the inside. */
      readonly observe?: ObservationRequest | undefined
      /** Bytes of GPU memory that a person has allowed for it; without them, what `plan` says is
       * allocated without asking. */
      readonly allow_bytes?: number | undefined
      /** It drops no run: those that are started so share the device, and take a step each in
       * turn. */
      readonly in_turn?: boolean | undefined
    }
  | PlanCommand
  /** Other panels are open than before. Answered by `observed` for the steps to come; in a pause,
   * for the present one. */
  | { readonly type: 'observe'; readonly request: ObservationRequest }
  | { readonly type: 'pause' }
  | { readonly type: 'resume' }
  /** One training step, then paused. */
  | { readonly type: 'step' }
  /** One training step, then the next turn is awaited: another run takes its own meanwhile, on the
   * same GPU. No pause. */
  | { readonly type: 'turn' }
  /** One training step, measured; then as before. Answered by `profile`, or not at all when the run
   * is over. */
  | { readonly type: 'profile' }
  /** The next step of reinforcement tells of every token. Answered by `trace`, or not at all when
   * no such step comes. */
  | { readonly type: 'trace' }
  /** Measures this adapter, when no run is on. Answered by `benchmark_progress`, then `benchmark`
   * or `benchmark_failed`; `measure` by `speed` or not at all. */
  | { readonly type: 'benchmark' | 'measure' }
  /** Ends the current phase after the step in flight. */
  | { readonly type: 'next_phase' }
  /** A person's verdict on a pair of `pairs`. Answered by `pairs`; one that is not the next in line
   * changes nothing. */
  | { readonly type: 'verdict'; readonly id: number; readonly choice: 'a' | 'b' | 'skip' }
  /** Takes the last verdict back. Answered by `pairs`. */
  | { readonly type: 'undo_verdict' }
  /** Does this before the next step. Answered by `steered`. */
  | { readonly type: 'steer'; readonly action: SteeringAction }
  /** Keeps a checkpoint as soon as the step in flight is done: the page may soon be gone. */
  | { readonly type: 'checkpoint' }
  /** Sends a checkpoint of this record; without `step`, the newest state of its run. Answered by
   * `checkpoint_file`. */
  | { readonly type: 'read_checkpoint'; readonly record: string; readonly step?: number }
  /** Frees the run's GPU memory; without `run`, that of all. */
  | { readonly type: 'stop'; readonly run?: number }

/** An error as plain data. `code` is the GpuError's, or says which part of the lab refused. */
export interface LabError {
  readonly name: string
  readonly code:
    | GpuErrorCode
    | 'experiment'
    | 'reward'
    | 'memory'
    | 'checkpoint'
    | 'worker'
    | 'internal'
  readonly message: string
  /** Of code memory: what the run would take, and with gradient checkpointing where that alone
   * makes it fit. */
  readonly bytes?: number
  readonly checkpointed_bytes?: number
}

/** waiting: for a person's verdicts. */
export type RunStatus = 'preparing' | 'running' | 'paused' | 'waiting' | 'finished'

export type LabEvent =
  | ModelEvent
  | LookEvent
  | TouchEvent
  | KernelEvent
  | { readonly type: 'hello'; readonly protocol: number }
  | { readonly type: 'adapter'; readonly adapter: AdapterFacts }
  | { readonly type: 'speed'; readonly speed: AdapterSpeed }
  /** What the worker is busy with before the first step, e.g. preparing the GPU. */
  | { readonly type: 'progress'; readonly run: number; readonly message: string }
  | { readonly type: 'status'; readonly run: number; readonly status: RunStatus }
  /** A run that takes turns waits for the memory of others: their plans and its own do not fit
   * together. */
  | { readonly type: 'waits'; readonly run: number }
  /** What a person should know of the reward before it is trained on, a sentence each. */
  | { readonly type: 'reward_tried'; readonly run: number; readonly remarks: readonly string[] }
  /** Every two seconds, whatever the worker does. */
  | { readonly type: 'alive' }
  /** The run is back after `step`, or begins there; what was known of later steps no longer
   * holds. */
  | {
      readonly type: 'restored'
      readonly run: number
      readonly why: RestoreReason
      readonly step: number
      readonly phase: number
      readonly phase_step: number
      readonly experiment: Experiment
      /** The document that does the same run again. */
      readonly document: Experiment
      readonly history: PlainHistory
      readonly kernels: string
      /** The checkpoint that this run begins with as one of its own. */
      readonly parent?: { readonly record: string; readonly step: number }
      /** What is not as it was where the checkpoint was made, in a sentence; then the numbers agree
       * to rounding alone. */
      readonly differs?: string
    }
  /** A checkpoint of `step` was kept. */
  | {
      readonly type: 'checkpoint'
      readonly run: number
      readonly step: number
      readonly bytes: number
      /** All that are kept of this run now. */
      readonly entries: readonly CheckpointEntry[]
      /** From the state on the GPU to the file. */
      readonly ms: number
    }
  /** A checkpoint could not be kept or read; the run continues all the same. */
  | {
      readonly type: 'checkpoint_problem'
      readonly run: number
      readonly code: CheckpointProblemCode
      readonly message: string
    }
  | {
      readonly type: 'checkpoint_file'
      readonly record: string
      readonly step: number
      readonly bytes: ArrayBuffer
    }
  /** There is no such checkpoint, or it cannot be read. */
  | { readonly type: 'checkpoint_file_failed'; readonly record: string; readonly message: string }
  /** The GPU was lost after `step`; the run goes back to its last state, automatically or when a
   * person asks for it. */
  | {
      readonly type: 'lost'
      readonly run: number
      /** The step that it goes back to. */
      readonly step: number
      readonly message: string
      /** It is paused: this was not the first time, or the browser gives no GPU. */
      readonly is_waiting: boolean
      /** The browser gives no GPU. */
      readonly is_blocked: boolean
    }
  /** Several steps in a row were not finite. The run goes back to its last sound state, `step`, and
   * is paused there. */
  | {
      readonly type: 'guarded'
      readonly run: number
      readonly step: number
      /** Oldest first. */
      readonly broken: readonly BrokenStep[]
    }
  /** A phase begins with the step after `step`; `reason` says why the one before it ended. */
  | {
      readonly type: 'phase'
      readonly run: number
      readonly step: number
      readonly phase: number
      readonly reason: PhaseReason
    }
  /** Something was done to the run, by hand or because its document says so; or it was refused. */
  | {
      readonly type: 'steered'
      readonly run: number
      readonly entry: SteeringEntry
      /** The experiment from the next step on. */
      readonly experiment: Experiment
      /** The steering of the document that does all this again. */
      readonly steering: readonly SteeringEntry[]
      /** Why it was not done. */
      readonly refused?: string
    }
  /** After step `step` (0 = before training): all its metrics, validation included when it was
   * due. */
  | {
      readonly type: 'step'
      readonly run: number
      readonly step: number
      readonly phase: number
      /** Steps done in this phase, this one included. */
      readonly phase_step: number
      readonly metrics: Metrics
      /** Milliseconds on the worker's clock when its numbers were there: a page that paints hears
       * of several steps at once. A recording has none. */
      readonly at_ms?: number
    }
  | {
      readonly type: 'samples'
      readonly run: number
      readonly step: number
      readonly samples: readonly RolloutSample[]
    }
  /** What was answered to held-out problems after step `step`; right after its `step`. */
  | {
      readonly type: 'generations'
      readonly run: number
      readonly step: number
      readonly generations: readonly Generation[]
    }
  /** The pairs of a phase of pairs that a person is asked about, whenever they change. */
  | {
      readonly type: 'pairs'
      readonly run: number
      readonly phase: number
      /** The next few in line; none when no person is asked, or there are no more. */
      readonly pairs: readonly AskedPair[]
      /** Pairs in line in all. */
      readonly pending: number
      /** Verdicts that prefer one response. */
      readonly given: number
      /** Verdicts that training waits for; 0 where it waits for none. */
      readonly min_pairs: number
      /** Everything that was said so far, as the experiment's field `pairs.verdicts` holds it. */
      readonly verdicts: string
    }
  /** Held-out pairs with the reward model's scores after step `step`. */
  | {
      readonly type: 'scored_pairs'
      readonly run: number
      readonly step: number
      readonly pairs: readonly ScoredPair[]
    }
  | {
      readonly type: 'memory'
      readonly run: number
      readonly memory: Readonly<Record<MemoryKind, number>>
      readonly counts: GpuCounts
      /** Bytes that training was planned to take. */
      readonly planned_bytes?: number
      /** What became of `rollout.dtype: float16`, where a phase asks for it. */
      readonly rollout_dtype?: RolloutDType
    }
  /** What step `step` cost; `peak` is undefined where it could not be probed. */
  | {
      readonly type: 'profile'
      readonly run: number
      readonly step: number
      readonly profile: Profile
      readonly peak: Peak | undefined
    }
  /** What step `step` computed of every token; right after its `step`. */
  | {
      readonly type: 'trace'
      readonly run: number
      readonly step: number
      readonly table: TokenTable
    }
  /** What step `step` showed of the inside; right after its `step`, or in a pause. */
  | {
      readonly type: 'observed'
      readonly run: number
      readonly step: number
      readonly observation: Observation
    }
  /** The next step that shows what panels ask for, where not every step does. */
  | { readonly type: 'observing'; readonly run: number; readonly step: number }
  | RunProgram
  | PlanEvent
  | { readonly type: 'benchmark_progress'; readonly message: string }
  | { readonly type: 'benchmark'; readonly numbers: BenchmarkNumbers }
  | { readonly type: 'benchmark_failed'; readonly error: LabError }
  /** `run` is undefined when the adapter could not be opened at all. */
  | { readonly type: 'failed'; readonly run: number | undefined; readonly error: LabError }
