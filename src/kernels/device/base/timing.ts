// Measures how long the dispatches of one kernel take.
import type { AnyKernel } from './kernel.ts'

/** What is known of the dispatches of one kernel with the same recorded params: those of all
 * layers, say. */
export interface Timing {
  readonly kernel: AnyKernel
  /** As many parts as the grid can be cut into. */
  readonly mostParts: number
  /** Measured dispatches, and those of them since the last `learn`. */
  samples: number
  fresh: number
  /** Calls of `learn` that brought samples. */
  rounds: number
  totalMs: number
  longest_ms: number
  /** Dispatches in place of one; 1 until it is found to take too long. */
  parts: number
}
