// Writes behind a mean over runs how far its 95 % interval reaches.
import { boundsOf } from '../../../document/study/bounds.ts'
import type { RunEntry } from '../../../page/runs/library/library_store.ts'
import type { MeanInterval } from '../../../record/compare/statistics.ts'
import { differenceText, numberText } from '../../shown/run_words.ts'
import { isShare, metricOf } from '../base/columns.ts'

/** '1.2 points'. */
export const widthText = ({ halfWidth }: MeanInterval, inShares: boolean): string =>
  differenceText(halfWidth, inShares).replace('+', '')

/** '± 1.2 points'; where a measure ends within the interval its ends, cut there. `entry`: one of
 * the runs. */
export function spreadText(interval: MeanInterval, entry: RunEntry, choice: string): string {
  const inShares = isShare(choice)
  const { mean, halfWidth } = interval
  const bounds = boundsOf(metricOf(entry, choice))
  const [low, high] = [mean - halfWidth, mean + halfWidth]
  if (low >= bounds.low && high <= bounds.high) return `± ${widthText(interval, inShares)}`
  const ends = [Math.max(low, bounds.low), Math.min(high, bounds.high)]
  return `(${ends.map((end) => numberText(end, inShares)).join(' to ')})`
}
