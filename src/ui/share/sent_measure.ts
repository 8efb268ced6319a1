// Reads what a sender's result came to, by what the page tells such a run by.
import { rewardIsShare } from '../../document/experiment/asked.ts'
import type { Experiment } from '../../document/experiment/schema/schema.ts'
import {
  GREEDY_ACCURACY,
  lastOf,
  MAIN_MEASURE,
  type SharedResult,
} from '../../document/links/shared_result.ts'
import { formatNumber, formatShare } from '../kit/format.ts'
import { mainMeasure } from '../shown/measure/main_measure.ts'

/** As the page writes a reward of this experiment: a share, or a number where it can exceed 1. */
export const rewardFormat = ({ reward }: Experiment) =>
  rewardIsShare(reward) ? formatShare : formatNumber

/** The end of the measure that a run of this experiment is told by; undefined where the link has
 * none, however many right answers it counts. */
export function sentEnd(result: SharedResult, of: Experiment) {
  const { asked, isReward } = mainMeasure(of)
  const value = lastOf(result, asked || isReward ? MAIN_MEASURE : GREEDY_ACCURACY)
  if (value === undefined) return undefined
  return { asked, isReward, text: isReward ? rewardFormat(of)(value) : formatShare(value) }
}
