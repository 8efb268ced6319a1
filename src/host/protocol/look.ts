// Declares the messages about looking into a kept state of a run that is over: one command, and
// what was seen.
import type { ContentFile } from '../../document/content/content.ts'
import type { Experiment } from '../../document/experiment/schema/schema.ts'
import type { Observation, ObservationRequest } from './observation.ts'
import type { TokenTable } from './results.ts'

/** Opens a checkpoint on a device, between runs, and looks into it; changes neither run nor file.
 * Answered by `looked` or `look_failed`. */
export interface LookCommand {
  readonly type: 'look'
  readonly record: string
  /** Without it, the newest state of the run. */
  readonly step?: number
  /** The run's document: its beginning is made anew and looked into, in place of a kept state. */
  readonly begins?: Experiment
  readonly request: ObservationRequest
  /** The step that follows is not taken: its tokens are not asked for. */
  readonly is_state_only?: true
  /** The files that its experiment names. */
  readonly contents?: readonly ContentFile[]
}

/** What was seen in the state after `step`. */
export interface Looked {
  readonly step: number
  readonly observation: Observation | undefined
  /** The step that follows, taken on a copy of the state. Of a run that continued, it has that
   * run's numbers. */
  readonly next: { readonly step: number; readonly table: TokenTable } | undefined
  /** Why there are no tokens, in a sentence; '' where there are, or where none were asked for. */
  readonly why_no_tokens: string
}

export type LookEvent =
  | ({ readonly type: 'looked'; readonly record: string } & Looked)
  | { readonly type: 'look_failed'; readonly record: string; readonly message: string }
