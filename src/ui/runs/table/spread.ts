// Writes behind a mean over runs how far they lie apart: the lowest and the highest of a few, of
// more the 95 % interval of their mean.
import type { RunEntry } from '../../../page/runs/library/library_store.ts'
import type { MeanSpread } from '../../../record/compare/statistics.ts'
import { differenceText, numberText } from '../../shown/run_words.ts'
import { boundsOfRuns, metricOf } from '../base/columns.ts'

/** '1.2 points'. */
const sizeText = (size: number, inShares: boolean): string =>
  differenceText(size, inShares).replace('+', '')

/** '(50.0 % to 70.0 %)'; from a few runs on '± 1.2 points (95 %)', and where a measure ends within
 * that interval its ends, cut there: '(95 %: 91.0 % to 100.0 %)'. `entries`: the runs of the
 * mean. */
export function spreadText(
  spread: MeanSpread,
  entries: readonly RunEntry[],
  choice: string,
  inShares: boolean,
): string {
  const { mean, lowest, highest, halfWidth } = spread
  const between = (low: number, high: number) =>
    [low, high].map((end) => numberText(end, inShares)).join(' to ')
  if (halfWidth === undefined) return `(${between(lowest, highest)})`
  const bounds = boundsOfRuns(entries, (entry) => metricOf(entry, choice))
  const [low, high] = [mean - halfWidth, mean + halfWidth]
  if (low >= bounds.low && high <= bounds.high) return `± ${sizeText(halfWidth, inShares)} (95 %)`
  return `(95 %: ${between(Math.max(low, bounds.low), Math.min(high, bounds.high))})`
}

/** '[82.8–87.5 %]' of a few runs, for a cell that has little room; else as `spreadText`. */
export function narrowSpread(
  spread: MeanSpread,
  entries: readonly RunEntry[],
  choice: string,
  inShares: boolean,
): string {
  if (spread.halfWidth !== undefined) return spreadText(spread, entries, choice, inShares)
  const [low, high] = [spread.lowest, spread.highest].map((end) => numberText(end, inShares))
  const unit = /\s*%$/
  return unit.test(low) && unit.test(high)
    ? `[${low.replace(unit, '')}–${high}]`
    : `[${low}–${high}]`
}

/** What stands in brackets behind the means of a table. */
export const SPREAD_NOTE =
  'Behind a mean stand the lowest and the highest of its runs; from 5 runs on its 95 % interval (Student’s t).'

/** What the text says, for who points at it. */
export const spreadWords = ({ n, halfWidth }: MeanSpread): string =>
  halfWidth === undefined
    ? `Mean of ${n} runs, the lowest and the highest`
    : `Mean of ${n} runs, and its 95 % interval (Student’s t)`

/** Behind a mean difference: '(+1.0 points to +5.2 points over 3 seeds)'; from a few on '± 1.2
 * points (95 %, 6 seeds)'. */
export function pairedSpread(spread: MeanSpread, inShares: boolean): string {
  const { n, lowest, highest, halfWidth } = spread
  if (halfWidth !== undefined) return `± ${sizeText(halfWidth, inShares)} (95 %, ${n} seeds)`
  const [low, high] = [lowest, highest].map((end) => differenceText(end, inShares))
  return `(${low} to ${high} over ${n} seeds)`
}
