// Messages about touching the kept states of a run that is over: parts are switched off, or taken
// from another state, and held-out problems are answered again.
import type { ContentFile } from '../../document/content/content.ts'
import type { Exchange } from '../../rl/train/responses/exchange.ts'
import type { PartCosts } from '../../rl/train/responses/part_costs.ts'

export type { Estimate } from '../../rl/train/responses/estimate.ts'
export type { PartCost } from '../../rl/train/responses/part_costs.ts'
export type { Exchange, PartCosts }

/** Answered by `touch_progress` as it goes, and by `touched` or `touch_failed`. */
export interface TouchCommand {
  readonly type: 'touch'
  readonly record: string
  /** Of one state, what each of its parts does; of two, which of them learned it: parts of each are
   * taken from the other. */
  readonly steps: readonly [number] | readonly [number, number]
  /** Held-out problems at most. */
  readonly problems: number
  /** The files that its experiment names. */
  readonly contents?: readonly ContentFile[]
}

/** What came of it; of two states, both ways round. */
export type Touched =
  | { readonly what: 'parts'; readonly step: number; readonly costs: PartCosts }
  | {
      readonly what: 'exchange'
      readonly steps: readonly [number, number]
      readonly exchanges: readonly [Exchange, Exchange]
    }

export type TouchEvent =
  | { readonly type: 'touched'; readonly record: string; readonly touched: Touched }
  | {
      readonly type: 'touch_progress'
      readonly record: string
      readonly done: number
      readonly of: number
    }
  | { readonly type: 'touch_failed'; readonly record: string; readonly message: string }
