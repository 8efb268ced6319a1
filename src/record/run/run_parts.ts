// Declares what the page knows of one run, part by part: its status, what was done to it, its
// speed, its counts, what went wrong.

import type { SteeringEntry } from '../../document/experiment/steering/actions.ts'
import type { CheckpointProblemCode, RestoreReason } from '../../host/protocol/checkpoint_facts.ts'
import type { LabError } from '../../host/protocol/protocol.ts'
import type { AskedPair, BenchmarkNumbers, Peak, Profile } from '../../host/protocol/results.ts'
import type { PhaseReason } from '../../rl/config/phase.ts'
import type { TimeLeft } from './time_left.ts'

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

const BUSY: readonly LabStatus[] = ['preparing', 'running', 'paused', 'waiting']

/** A run is under way or about to be. */
export const isBusy = ({ status }: { readonly status: LabStatus }): boolean => BUSY.includes(status)

/** What a person typed into a field and the field does not take. */
export interface WrongField {
  readonly path: string
  /** What the form calls it. */
  readonly label: string
  readonly text: string
  /** What is wrong with it, which begins with the path of the field whose rule it breaks. */
  readonly problem: string
  /** What the field had when the person began to type; undefined stands for its default. */
  readonly before?: { readonly value: unknown; readonly said: string }
}

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

/** Before two steps have arrived. */
export const UNKNOWN_TIMING: Timing = {
  steps_per_second: undefined,
  tokens_per_second: undefined,
  left: { seconds: undefined, untimedSteps: 0, isAbout: false },
}

/** What the GPU does: the last step's own counts, and the device layer's. */
export interface StepCounts {
  readonly dispatches_per_step: number | undefined
  readonly submits_per_step: number | undefined
  /** The longest kernel call that was measured, and the recorded calls that run in parts; not on
   * software adapters. */
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

/** What a person is asked in the phase of pairs `phase`, and has said. */
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
  /** A person has to continue it. */
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
