// Lists the aggregations.
import type { LossAggregation } from './aggregation.ts'
import { seq_mean_token_mean } from './seq_mean_token_mean.ts'
import { seq_mean_token_sum } from './seq_mean_token_sum.ts'
import { seq_mean_token_sum_norm } from './seq_mean_token_sum_norm.ts'
import { seq_mean_token_sum_norm_0_7_1 } from './seq_mean_token_sum_norm_0_7_1.ts'
import { token_mean } from './token_mean.ts'
import { token_sum } from './token_sum.ts'

/** Every aggregation, in the order of the menu; the first is the default. */
const LISTED = [
  token_mean,
  seq_mean_token_sum,
  seq_mean_token_mean,
  seq_mean_token_sum_norm,
  token_sum,
  seq_mean_token_sum_norm_0_7_1,
] as const

/** verl's names of the means over tokens (actor.loss_agg_mode). */
export type LossAggMode = (typeof LISTED)[number]['name']
export const AGGREGATIONS: readonly LossAggregation<LossAggMode>[] = LISTED
/** loss_weights takes the index. */
export const LOSS_AGG_MODES: readonly LossAggMode[] = AGGREGATIONS.map(({ name }) => name)

/** The aggregation of this name. Throws RangeError for a name that is none. */
export function aggregationOf(lossAggMode: LossAggMode): LossAggregation<LossAggMode> {
  const found = AGGREGATIONS.find(({ name }) => name === lossAggMode)
  if (!found)
    throw new RangeError(
      `loss_agg_mode: expected one of ${LOSS_AGG_MODES.join(', ')}, got ${lossAggMode}`,
    )
  return found
}
