// Declares what the recorder needs of the page.
import type { Experiment } from '../../../document/experiment/schema/schema.ts'
import type { RunHeader } from '../../../record/run/record.ts'
import type { RunStorage } from '../../../record/run/storage.ts'
import type { LabState } from '../../state/store.ts'

export interface RecorderHost {
  readonly storage: RunStorage
  readonly version: string
  adapterName(state: LabState): string
  /** Milliseconds since 1970. */
  now(): number
  /** Calls once, later; returns how to call it off. */
  later(ms: number, call: () => void): () => void
  /** The run whose settings this one begins with. */
  parentOf(presetId: string, document: Experiment): string | undefined
  /** What is written of a run so far, e.g. by an earlier page. */
  headerOf(id: string): RunHeader | undefined
  onBegun(header: RunHeader): void
  onWritten(header: RunHeader): void
  /** The browser has closed the storage: what is known of this run beside its record is to be
   * written again. */
  onGone(id: string): void
  /** Why the last write failed; undefined once one has succeeded. */
  onProblem(error: unknown): void
}
