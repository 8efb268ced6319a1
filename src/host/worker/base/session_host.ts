// Declares what a session is given: the GPU side and the files behind interfaces, so that Node can
// test it.

import type { Experiment } from '../../../document/experiment/schema/schema.ts'
import type { SteeringAction } from '../../../document/experiment/steering/actions.ts'
import type { AdapterFacts } from '../../../kernels/device/adapter.ts'
import type { GpuError } from '../../../kernels/device/base/errors.ts'
import type { MemoryKind } from '../../../kernels/device/base/tensor.ts'
import type { GpuCounts } from '../../../kernels/device/open_device.ts'
import type { MatmulProgress } from '../../../kernels/matmul/matmul_tune.ts'
import type { Preferences } from '../../../rl/reward/preferences.ts'
import type { PhaseStart, StepResult } from '../../../rl/train/parts/step_result.ts'
import type { RolloutDType } from '../../../rl/train/rollout_dtype.ts'
import type {
  Checkpoint,
  CheckpointFiles,
  SteeredState,
} from '../../checkpoints/file/checkpoint.ts'
import type { KernelChoice, MatmulNeeds } from '../../protocol/kernel_choice.ts'
import type { Observation, ObservationRequest } from '../../protocol/observation.ts'
import type { LabError, LabEvent } from '../../protocol/protocol.ts'
import type {
  AdapterSpeed,
  BenchmarkNumbers,
  MatmulChoice,
  Peak,
  Profile,
} from '../../protocol/results.ts'
import type { Touched, TouchWork } from '../../protocol/touch.ts'
import { MemoryRefusal } from './memory_budget.ts'
import type { Steered } from './steered_run.ts'

/** What the loop needs of a trainer. */
export interface RunTrainer {
  readonly isFinished: boolean
  /** Queues one step; its numbers follow. The first is step 0, before training. */
  queue(): Promise<{ readonly result: Promise<StepResult> }>
  /** The whole state after the step that was queued last. To be called before the next is queued;
   * nothing waits for it. */
  exportState(): Promise<SteeredState>
  /** Asks for an action before the next step that is queued. */
  steer(action: SteeringAction): void
  /** Does what is due before the next step; to be called before `isFinished` is asked. */
  obey(): Promise<readonly Steered[]>
  /** The next step of reinforcement brings its token table. */
  traceNext(): void
  /** What steps are to show of the inside from now on. */
  observe(request: ObservationRequest): void
  /** The next step that shows it; undefined where nothing is asked for. */
  readonly nextObserved: number | undefined
  /** The same of the present state, between two steps; undefined where nothing is asked for. */
  observeNow(): Promise<Observation | undefined>
  /** Steps queued so far. */
  readonly step: number
  readonly phase: number
  /** The phase has taken its last step. */
  readonly isPhaseOver: boolean
  /** Prepares the next step, into its phase if need be. False while that waits for a person's
   * verdicts. */
  ready(): Promise<boolean>
  readonly isWaiting: boolean
  /** The phase that has begun and that no step has reported. */
  takePhaseStart(): PhaseStart | undefined
  /** Of a phase of pairs. */
  readonly preferences: Pick<Preferences, 'config' | 'pending' | 'given' | 'log'> | undefined
  /** What became of `rollout.dtype: float16`; undefined where no phase asks for it. */
  readonly rollout_dtype?: RolloutDType | undefined
  decide(id: number, choice: 'a' | 'b' | 'skip'): boolean
  undoVerdict(): boolean
}

/** A run that is ready to step. */
export interface OpenRun {
  readonly trainer: RunTrainer
  readonly counts: GpuCounts
  memory(): Record<MemoryKind, number>
  /** Bytes that training was planned to take; absent where nobody planned. */
  readonly planned_bytes?: number
  /** Does the work and measures it; changes none of its results. */
  profile<T>(work: () => Promise<T>): Promise<{ readonly result: T; readonly profile: Profile }>
}

/** What is to be measured beside a run, and what the run has until then. */
export interface Measured extends Pick<KernelChoice, 'matmul' | 'remember'> {
  readonly device: Pick<RunDevice, 'measure'>
  /** Classes that are remembered. */
  readonly settled: MatmulChoice
}

/** The kernels of the matrix products, and the experiment's field that brings them back. */
export interface Kernels {
  /** Undefined for the default ones. */
  readonly matmul: MatmulChoice | undefined
  readonly text: string
  /** What is to be measured beside the run; absent where nothing is. */
  readonly measuring?: Measured
}

/** Measurements that were made of those that there are, and the variants of the classes that they
 * have settled. */
export type KernelProgress = Pick<MatmulProgress, 'done' | 'of' | 'choice'>

/** The device of a run, before there is a trainer. */
export interface RunDevice extends MatmulNeeds {
  /** The kernels, where they were chosen before the device was handed over. */
  readonly settled?: Kernels
  /** Resolves when the device is lost. */
  readonly lost: Promise<GpuError>
  /** Features that a variant requires and this device lacks. */
  missing(variant: string): readonly string[]
  /** Measures the classes that `settled` leaves open, one variant at each `next`, and returns what
   * is known by then. Nothing of it is done before the first. */
  measure(settled: MatmulChoice): AsyncGenerator<KernelProgress, void, undefined>
  /** Makes the trainer, at its first step or in `state`; without `matmul` on the default
   * kernels. */
  start(
    matmul: MatmulChoice | undefined,
    onProgress: (message: string) => void,
    state?: SteeredState,
  ): Promise<OpenRun>
  /** Frees everything, the trainer included. Where the run `endedWell`, nothing of it is under
   * way, and the device and its compiled kernels serve the next run. Of one that `broke`, whose
   * numbers are not finite, nothing is under way either. */
  free(endedWell: boolean, broke?: boolean): Promise<void>
}

/** Where checkpoints lie, and how they are written. */
export interface CheckpointHost {
  /** The storage, and why it is memory alone; '' where it outlasts the page. */
  open(): Promise<{ readonly files: CheckpointFiles; readonly whyMemory: string }>
  encode(checkpoint: Checkpoint): Promise<Uint8Array<ArrayBuffer>>
  /** Throws CheckpointError for a file that no run can continue from; `file` names it there. */
  decode(bytes: Uint8Array<ArrayBuffer>, file: string): Promise<Checkpoint>
  /** CheckpointStorage.sync. */
  sync?(): void
  /** Version of the app. */
  readonly understory: string
}

/** Time, as a run sees it. */
export interface Clock {
  /** Milliseconds. */
  now(): number
  /** Resolves after so many milliseconds. */
  sleep(ms: number): Promise<void>
}

export const systemClock: Clock = {
  now: () => performance.now(),
  sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
}

/** What a run is given: a device, a place for checkpoints, a way out for events, and a clock. */
export interface RunHost extends Clock {
  /** `isCareful`: in shorter submissions than usual, because the device was lost. Throws
   * MemoryRefusal where the run would take more than `allowBytes` and more than is allocated
   * without asking. `isShared`: other runs are on the device too. */
  prepare(
    experiment: Experiment,
    isCareful?: boolean,
    allowBytes?: number,
    isShared?: boolean,
  ): Promise<RunDevice>
  /** Without it, runs are kept in memory only, for a lost device. */
  readonly checkpoints?: CheckpointHost
  /** Of the app and of the browser: what was measured under another one is measured again. */
  readonly version: string
  /** The largest rates of the adapter; undefined where they cannot be probed. */
  peak(): Promise<Peak | undefined>
  post(event: LabEvent): void
  /** Awaited between two steps, after what was due before the next one has been done. */
  between?(): Promise<void>
  /** Nobody is there to decide what a person at the page decides: broken numbers and a lost GPU end
   * the run with their error. On the command line, where `--resume` continues it. */
  readonly isUnattended?: boolean
}

/** A state that can be touched. */
export interface TouchState {
  readonly step: number
  readonly experiment: Experiment
  /** Of the model without an adapter. */
  readonly weights: Float32Array
}

/** What does the work: it reads each state when its turn comes. */
export type Touch = (
  states: readonly (() => Promise<TouchState>)[],
  work: TouchWork,
  onProgress: (done: number, of: number) => void,
) => Promise<Touched>

/** What a session is given: what its runs are, and what the page asks for beside a run. */
export interface SessionHost extends RunHost {
  open(): Promise<AdapterFacts>
  /** What `plan` posts; without it nothing is posted. */
  plan?(experiment: Experiment): {
    readonly bytes: number
    readonly allowed_bytes: number
    readonly memory?: Readonly<Record<string, number>>
    readonly teacher_bytes?: number
    readonly savings?: string
  }
  /** What `measure` is answered with; without it nothing is. */
  speed?(): Promise<AdapterSpeed>
  benchmark(onProgress: (message: string) => void): Promise<BenchmarkNumbers>
  /** What `touch` is answered with; without it, it is refused. */
  readonly touch?: Touch
}

/** The settings were refused before anything was allocated. */
export class ExperimentError extends Error {
  override name = 'ExperimentError'
}

/** An error as plain data; a GpuError keeps its code. */
export function labError(error: unknown): LabError {
  if (!(error instanceof Error)) return { name: 'Error', code: 'internal', message: `${error}` }
  const { name, message } = error
  if (name === 'GpuError') return { name, code: (error as GpuError).code, message }
  if (name === 'ExperimentError' || name === 'NoPairsError')
    return { name, code: 'experiment', message }
  if (name === 'RewardError') return { name, code: 'reward', message }
  if (error instanceof MemoryRefusal) {
    const { bytes, checkpointed_bytes } = error
    return {
      name,
      code: 'memory',
      message,
      bytes,
      ...(checkpointed_bytes && { checkpointed_bytes }),
    }
  }
  if (name === 'CheckpointError') return { name, code: 'checkpoint', message }
  return { name, code: 'internal', message }
}
