// Holds a step of any kind once its work is queued on the GPU.
import type { RolloutBatch } from '../../experience/batch.ts'
import type { TokenTable } from '../../look/token_table.ts'
import type { NonFinite } from '../../metrics/nonfinite.ts'
import type { ScoredPair } from '../../reward/scored_pairs.ts'
import type { StepSample } from '../parts/step_result.ts'

/** What a step's last readback brings. */
export interface StepNumbers {
  readonly metrics: Record<string, number>
  readonly scored_pairs?: readonly ScoredPair[]
  readonly nonFinite?: NonFinite
}

/** A token table on its way back, and the batch that it shows. */
export interface Tracing {
  readonly table: Promise<TokenTable>
  readonly batch: RolloutBatch
  /** The place of each row when it was sampled, [B]. */
  readonly order: readonly number[]
}

export interface TakenStep {
  readonly samples: readonly StepSample[]
  /** What was sampled and trained on, for the step's throughput. */
  readonly rollout?: RolloutBatch
  readonly reading: Promise<StepNumbers>
  readonly tracing?: Tracing
}
