// Says in a sentence what the compared runs came to.
import { statisticOf } from '../../../record/run/summary.ts'
import { formatSteps } from '../../kit/format.ts'
import { mean } from '../../kit/mean.ts'
import { differenceText, numberText } from '../../shown/run_words.ts'
import { isShare, METRIC_CHOICES, metricOf } from '../base/columns.ts'
import type { Compared } from '../base/compared.ts'

/** A line of the panels and the mean of its runs' last values. */
interface Ended {
  readonly label: string
  readonly value: number
}

function ended(groups: readonly Compared[], choice: string): readonly Ended[] {
  return groups.flatMap(({ label, entries }) => {
    const values = entries.map((entry) =>
      statisticOf(entry.header.summaries[metricOf(entry, choice)], 'last', false),
    )
    const known = values.filter((x): x is number => x !== undefined && Number.isFinite(x))
    return known.length > 0 ? [{ label, value: mean(known) }] : []
  })
}

/** ' They took 12 to 45 steps: …'; '' where all took as many. */
function budgetSays(groups: readonly Compared[]): string {
  const steps = groups.flatMap(({ entries }) => entries.map(({ header }) => header.step))
  const [least, most] = [Math.min(...steps), Math.max(...steps)]
  return least === most
    ? ''
    : ` They took ${least} to ${formatSteps(most)}: in the panels, compare them where all have come.`
}

/** '“B” ends 28.1 points above “A” …', of the first measure that two lines have; undefined where
 * there is none. */
export function compareSays(groups: readonly Compared[]): string | undefined {
  for (const { key, label } of METRIC_CHOICES) {
    const values = ended(groups, key).toSorted((a, b) => b.value - a.value)
    const [first, last] = [values[0], values.at(-1)]
    if (values.length < 2 || !first || !last) continue
    const inShares = isShare(
      key,
      groups.flatMap(({ entries }) => entries),
    )
    const alone = groups.every(({ entries }) => entries.length === 1) ? ' One run each.' : ''
    const size = differenceText(first.value - last.value, inShares).replace('+', '')
    const said =
      first.value === last.value
        ? `All end alike in ${label}: ${numberText(first.value, inShares)}.`
        : `“${first.label}” ends ${size} above “${last.label}” in ${label}: ${numberText(first.value, inShares)} and ${numberText(last.value, inShares)}.`
    return `${said}${budgetSays(groups)}${alone}`
  }
  return undefined
}
