// Declares what the loop of a run is given: who keeps its states, where its events go, and a clock.
import type { CheckpointKeeper } from '../../checkpoints/keeper.ts'
import type { LabEvent, RunStatus } from '../../protocol/protocol.ts'
import type { Orders } from './run_orders.ts'
import type { RunHost } from './session_host.ts'

/** What the loop shares with the run that it is part of. */
export interface LoopOf {
  readonly id: number
  readonly host: Pick<RunHost, 'now' | 'peak' | 'sleep'>
  readonly orders: Orders
  readonly keeper: CheckpointKeeper
  /** The least milliseconds between two steps whose samples are posted. */
  readonly samplesMs: number
  /** Awaited between two steps, when what was due before the next one is done. */
  between(): Promise<void>
  post(event: LabEvent): void
  setStatus(status: RunStatus): void
}
