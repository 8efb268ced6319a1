// Draws the last and highest values of the key metrics, a row for each line of the panels, and
// differences by seed.

import type { PairedDifference } from '../../../record/compare/compare.ts'
import { meanSpread } from '../../../record/compare/statistics.ts'
import { seedOf } from '../../../record/run/record.ts'
import { CutName } from '../../kit/CutName.tsx'
import { NONE } from '../../kit/format.ts'
import { differenceText, numberText } from '../../shown/run_words.ts'
import { comparedChoices, isOneMeasure, whyNoMean } from '../base/choices.ts'
import { comparedNumber, isShare } from '../base/columns.ts'
import type { Compared } from '../base/compared.ts'
import { endedLines, isOneTask } from '../base/ends.ts'
import { haveSeedInCommon, isOneKnownTask, pairedRuns } from '../base/paired.ts'
import { MarkedName } from '../base/RunMark.tsx'
import { pairedSpread, SPREAD_NOTE, spreadText, spreadWords } from '../table/spread.ts'

/** '+3.1 points', and behind it '(+1.0 points to +5.2 points over 3 seeds)'; one pair says so. */
function Difference(props: {
  readonly of: PairedDifference
  /** Why nothing can be paired; '' where something can. */
  readonly why: string
  readonly inShares: boolean
}) {
  const { pairs, spread } = props.of
  if (pairs.length === 0) return <span className="soft">{props.why || NONE}</span>
  const mean = spread ? spread.mean : pairs[0].difference
  return (
    <>
      {differenceText(mean, props.inShares)}
      <small className="soft paired-spread">
        {spread ? pairedSpread(spread, props.inShares) : `(seed ${pairs[0].seed} alone)`}
      </small>
    </>
  )
}

const Name = ({ group }: { readonly group: Compared }) => (
  <MarkedName name={group.label} color={group.entries[0].labels.color} />
)

type Choices = ReturnType<typeof comparedChoices>

/** A column for each metric. */
const MetricHead = ({ label, choices }: { readonly label: string; readonly choices: Choices }) => (
  <thead>
    <tr>
      <th scope="col">{label}</th>
      {choices.map(({ key, label }) => (
        <th key={key} scope="col">
          {label}
        </th>
      ))}
    </tr>
  </thead>
)

interface KeyMetricsProps {
  readonly groups: readonly Compared[]
}

const entriesOf = (groups: readonly Compared[]) => groups.flatMap(({ entries }) => entries)

const whyNoPair = (first: Compared, group: Compared): string =>
  haveSeedInCommon(first.entries, [group.entries])
    ? ''
    : isOneKnownTask(entriesOf([first, group]))
      ? 'no seed in common'
      : 'task not known'

const whyNoPairs = (groups: readonly Compared[]): string => {
  if (!isOneKnownTask(entriesOf(groups)))
    return 'No log says its task, so nothing is paired with it.'
  return groups.some(({ entries }) => entries.some(({ header }) => seedOf(header) === undefined))
    ? 'Not every log says its seed, so nothing is paired.'
    : 'No two of them share a seed, so nothing is paired.'
}

/** Each line against the first, by seed. */
function Paired({ groups, choices }: KeyMetricsProps & { readonly choices: Choices }) {
  const [first, ...others] = groups
  if (others.length === 0) return null
  const hasPairs = haveSeedInCommon(
    first.entries,
    others.map(({ entries }) => entries),
  )
  if (!hasPairs) return <p className="soft">{whyNoPairs(groups)}</p>
  return (
    <div className="scroll" tabIndex={0} role="group" aria-label="Differences by seed">
      <table className="compare-table" data-testid="paired">
        <caption>
          What stands above minus that of <CutName name={first.label} />, paired by seed; in
          brackets the lowest and the highest, from 5 seeds on the 95 % interval (Student’s t)
        </caption>
        <MetricHead label="difference" choices={choices} />
        <tbody>
          {others.map((group) => (
            <tr key={group.entries[0].id}>
              <th scope="row">
                <Name group={group} />
              </th>
              {choices.map(({ key }) => (
                <td key={key} className="number">
                  {isOneMeasure(key, [...first.entries, ...group.entries]) ? (
                    <Difference
                      of={pairedRuns(first.entries, group.entries, (entry) =>
                        comparedNumber(entry, key),
                      )}
                      why={whyNoPair(first, group)}
                      inShares={isShare(key, [...first.entries, ...group.entries])}
                    />
                  ) : (
                    <span className="soft">{NONE}</span>
                  )}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

/**
 * Of one run its last and its highest value; of several the mean of the last ones, and how far they
 * lie apart.
 */
function Value(props: {
  readonly group: Compared
  readonly choice: string
  readonly inShares: boolean
}) {
  const { group, choice, inShares } = props
  const [first, ...others] = group.entries
  const why = whyNoMean(choice, group.entries)
  if (why !== '') return <small className="soft">{`no mean: ${why}`}</small>
  const last = group.entries.map((entry) => comparedNumber(entry, choice))
  const spread = meanSpread(last.filter((value): value is number => Number.isFinite(value)))
  if (others.length > 0 && spread)
    return (
      <>
        {numberText(spread.mean, inShares)}
        <small className="soft" title={spreadWords(spread)}>
          {' '}
          {spreadText(spread, group.entries, choice, inShares)}
        </small>
      </>
    )
  // An entropy is highest where a run begins, whatever became of it.
  const highest = /entropy$/.test(choice) ? undefined : comparedNumber(first, choice, 'highest')
  return (
    <>
      {numberText(last[0], inShares)}
      {highest === undefined ? null : (
        <small className="soft">, highest {numberText(highest, inShares)}</small>
      )}
    </>
  )
}

/** Of runs that are over: nobody knows how the others end. */
export function KeyMetrics(props: KeyMetricsProps) {
  const { ended: groups } = endedLines(props.groups)
  if (groups.length === 0) return <p className="soft">None of them has come to its end yet.</p>
  const all = entriesOf(groups)
  // What none has is no column.
  const choices = comparedChoices(all).filter(({ key }) =>
    all.some((entry) => comparedNumber(entry, key) !== undefined),
  )
  return (
    <>
      <div className="scroll" tabIndex={0} role="group" aria-label="Numbers of the ticked runs">
        <table className="compare-table" data-testid="key-metrics">
          {groups.some(({ entries }) => entries.length > 1) ? (
            <caption>{SPREAD_NOTE}</caption>
          ) : null}
          <MetricHead label="at the end" choices={choices} />
          <tbody>
            {groups.map((group) => (
              <tr key={group.entries[0].id}>
                <th scope="row">
                  <Name group={group} />
                </th>
                {choices.map(({ key }) => (
                  <td key={key} className="number">
                    <Value group={group} choice={key} inShares={isShare(key, all)} />
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {isOneTask(groups) ? <Paired groups={groups} choices={choices} /> : null}
    </>
  )
}
