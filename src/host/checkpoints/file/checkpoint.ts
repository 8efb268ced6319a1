// Declares a checkpoint as plain data: everything that the next step of a run depends on, and what
// was known of the run.

import type { Experiment } from '../../../document/experiment/schema/schema.ts'
import type { TrainerState } from '../../../rl/train/state.ts'
import type { CheckpointEntry, RunHistory } from '../../protocol/checkpoint_facts.ts'

/** A run between two steps: its trainer, and its place in its document. */
export interface SteeredState {
  readonly trainer: TrainerState
  /** As it is from the next step on; its `steering` is empty. */
  readonly experiment: Experiment
  /** The document that does the same run again: as it began, with all that was done to it and is
   * still to be done. */
  readonly document: Experiment
  /** Entries of `document.steering` that are done. */
  readonly done: number
}

/** Where a checkpoint was made. A run continues bit-identically on the same adapter and kernels. */
export interface MadeOn {
  readonly understory: string
  /** AdapterFacts.description. */
  readonly adapter: string
  /** The experiment's field that brings the run's kernels back; '' for the default ones. */
  readonly kernels: string
}

export interface Checkpoint {
  /** Id of the record of the run. */
  readonly record: string
  /** The checkpoint of another run that this one began with. */
  readonly parent?: { readonly record: string; readonly step: number }
  readonly run: SteeredState
  readonly history: RunHistory
  readonly made_on: MadeOn
}

/** Where checkpoints lie: the origin-private file system, a folder, or memory. A file is there
 * whole or not at all. */
export interface CheckpointFiles {
  list(record?: string): Promise<readonly CheckpointEntry[]>
  /** Atomic. Throws where there is no room, or no writing. */
  write(record: string, step: number, bytes: Uint8Array<ArrayBuffer>): Promise<void>
  /** Undefined where there is none. */
  read(record: string, step: number): Promise<Uint8Array<ArrayBuffer> | undefined>
  remove(record: string, steps: readonly number[]): Promise<void>
}
