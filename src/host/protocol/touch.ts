// Declares the messages about touching the kept states of a run that is over: parts are switched
// off, taken from another state, or read as they are for another text.
import type { ContentFile } from '../../document/content/content.ts'
import type { Touched, TouchWork } from '../../rl/train/touched/touch.ts'

export type { ChangeCost, PartCost, PartCosts } from '../../rl/look/observation.ts'
export type { Estimate } from '../../rl/math/estimate.ts'
export type { Exchange } from '../../rl/train/touched/exchange.ts'
export type { Patching, Recovery } from '../../rl/train/touched/patching.ts'
export type { LayerProbe, ProbedState, Probes } from '../../rl/train/touched/probes.ts'
export type { GivenLens, Readings, ReadText } from '../../rl/train/touched/readings.ts'
export type { Steering, SteeringEffect, SteeringSource } from '../../rl/train/touched/steering.ts'
export type { Touched, TouchWork }

/** Answered by `touch_progress` as it goes, and by `touched` or `touch_failed`. */
export interface TouchCommand {
  readonly type: 'touch'
  readonly record: string
  /** Of one state; of two where parts are exchanged, of any number where probes are fitted or
   * layers are read. */
  readonly steps: readonly number[]
  /** The run of the last of two states, where that is another one. */
  readonly other?: string | undefined
  readonly work: TouchWork
  /** The files that the experiments of its runs name. */
  readonly contents?: readonly ContentFile[]
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
