// Declares what page and worker tell each other about checkpoints: which are kept, what a run
// continues from, and what is known of it.

import type { SteeringEntry } from '../../document/experiment/steering/actions.ts'
import type { PhaseReason } from '../../rl/config/phase.ts'
import type { Series } from '../columns/series.ts'
import type { Thinned } from '../columns/thinning.ts'

/** What the page knows of the steps so far. */
export interface RunHistory {
  readonly series: ReadonlyMap<string, Series>
  readonly phase_switches: readonly {
    readonly step: number
    readonly phase: number
    readonly reason: PhaseReason
  }[]
  /** What was done to the run, refusals included. */
  readonly steered: readonly {
    readonly entry: SteeringEntry
    readonly refused: string | undefined
  }[]
  /** What a person said in each phase of pairs, as the experiment's field holds it, by index of
   * the phase. */
  readonly verdicts: Readonly<Record<number, string>>
}

/** One kept checkpoint of a run. */
export interface CheckpointEntry {
  readonly record: string
  /** Training steps done. */
  readonly step: number
  readonly bytes: number
  /** Milliseconds since 1970. */
  readonly written_at: number
}

/** What a run continues from. */
export type CheckpointSource =
  /** Continues its own run. */
  | { readonly kind: 'resume'; readonly record: string; readonly step: number }
  /** Begins another run, which remembers where it comes from. */
  | { readonly kind: 'branch'; readonly record: string; readonly step: number }
  /** A file that a person opened: another run too. */
  | { readonly kind: 'file'; readonly name: string; readonly bytes: ArrayBuffer }

/** How often a run is kept, and how much room its checkpoints may take. */
export interface CheckpointSettings {
  readonly every_steps: number
  /** 0 = as often as the steps say, whatever it costs. */
  readonly every_ms: number
  readonly budget_bytes: number
}

/** RunHistory as it crosses the boundary: columns of full length. */
export interface PlainHistory extends Omit<RunHistory, 'series'> {
  readonly series: Readonly<
    Record<
      string,
      {
        readonly steps: Float64Array
        readonly values: Float64Array
        readonly thinned?: Thinned | undefined
      }
    >
  >
}

/** Why a run continues from an earlier state. guard: its numbers were not finite. */
export type RestoreReason = CheckpointSource['kind'] | 'lost' | 'guard'

/** full: no room. unavailable: the browser has no such storage for this page. read_only: another
 * tab writes it. corrupt: what was kept cannot be read. */
export type CheckpointProblemCode = 'full' | 'unavailable' | 'read_only' | 'corrupt' | 'other'
