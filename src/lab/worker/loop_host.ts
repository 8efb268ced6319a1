// What the loop of a run is given: who keeps its states, where its events go, and a clock.
import type { SteeredState } from '../checkpoints/checkpoint.ts'
import type { UnsoundPart } from '../protocol/guard.ts'
import type { LabEvent, RunStatus } from '../protocol/protocol.ts'
import type { Orders } from './run_orders.ts'
import type { SessionHost } from './session_host.ts'

/** What takes the states of a run and keeps them; the methods are those of CheckpointKeeper. */
export interface LoopKeeper {
  /** The newest state that was taken is not finite; undefined where it was sound. */
  readonly unsound: { readonly step: number; readonly part: UnsoundPart } | undefined
  /** Whether the state after `step`, which was just queued, should be taken. */
  isDue(step: number, phase: number): boolean
  /** In how many milliseconds a run at rest should be kept: 0 now, undefined never. */
  staleIn(step: number, said: string): number | undefined
  /** Takes the state after `step`, which was queued last. False where it cannot at present. */
  take(step: number, phase: number, exportState: () => Promise<SteeredState>, said: string): boolean
  /** Everything of `step` has been posted. */
  landed(step: number): void
  /** Lets go of a state that has not landed. */
  drop(): void
  /** Resolves when it is known whether the state that landed last is finite. */
  looked(): Promise<void>
  /** Resolves when what was taken so far is written. */
  readonly idle: Promise<void>
  /** Whether a state is taken once its step has landed, and not as soon as it is queued. */
  readonly takes_landed?: boolean
  /** Whether a state that is due waits until the one before it is written. */
  readonly is_patient?: boolean
}

/** What the loop shares with the run that it is part of. */
export interface LoopOf {
  readonly id: number
  readonly host: Pick<SessionHost, 'now' | 'peak' | 'sleep'>
  readonly orders: Orders
  readonly keeper: LoopKeeper
  /** The least milliseconds between two steps whose samples are posted. */
  readonly samples_ms: number
  post(event: LabEvent): void
  setStatus(status: RunStatus): void
  /** Awaited between two steps, after what was due before the next one has been done. */
  between?(): Promise<void>
}
