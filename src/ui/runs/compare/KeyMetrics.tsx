// Last and highest values of the key metrics, run beside run, and differences by seed.

import type { RunEntry } from '../../../page/runs/library/library.ts'
import { bySettings, type PairedDifference, pairedBySeed } from '../../../record/compare/compare.ts'
import { runName } from '../../../record/run/names.ts'
import { statisticOf } from '../../../record/run/summary.ts'
import { CutName } from '../../kit/CutName.tsx'
import { differenceText, numberText } from '../../shown/run_words.ts'
import { MarkedName } from '../RunMark.tsx'
import { isShare, METRIC_CHOICES, metricOf } from '../table/columns.ts'

const summaryValue = (entry: RunEntry, choice: string, statistic: 'last' | 'highest') =>
  statisticOf(entry.header.summaries[metricOf(entry, choice)], statistic, false)

/** '+3.1 points ± 1.2 (95 %, 3 seeds)'; one pair says so. */
function pairedText({ pairs, interval }: PairedDifference, is_share: boolean): string {
  if (pairs.length === 0) return 'no seed in common'
  if (!interval)
    return `${differenceText(pairs[0].difference, is_share)} (seed ${pairs[0].seed} alone: no interval)`
  const { mean, half_width, n } = interval
  const width = differenceText(half_width, is_share).replace('+', '')
  return `${differenceText(mean, is_share)} ± ${width} (95 %, ${n} seeds)`
}

const seedValues = (group: readonly RunEntry[], choice: string) =>
  group.map((entry) => ({
    seed: entry.header.experiment.seed,
    value: summaryValue(entry, choice, 'last'),
  }))

/** Where the ticked runs have more than one experiment, seeds aside: each against the first. */
function Paired({ runs }: { readonly runs: readonly RunEntry[] }) {
  const groups = bySettings(
    runs.map((entry) => ({ entry, experiment: entry.header.document })),
  ).map((group) => group.map(({ entry }) => entry))
  const [first, ...others] = groups
  if (others.length === 0) return null
  const seeds = new Set(first.map(({ header }) => header.experiment.seed))
  const has_pairs = others.some((group) =>
    group.some(({ header }) => seeds.has(header.experiment.seed)),
  )
  if (!has_pairs) return <p className="soft">No two of them share a seed, so nothing is paired.</p>
  return (
    <div className="scroll" tabIndex={0} role="group" aria-label="Differences by seed">
      <table className="compare-table" data-testid="paired">
        <caption>
          Last value minus that of <CutName name={runName(first[0]).name} />, paired by seed; the
          interval is Student’s t
        </caption>
        <tbody>
          {others.map((group) =>
            METRIC_CHOICES.map(({ key, label }) => (
              <tr key={`${group[0].id} ${key}`}>
                <th scope="row">
                  <MarkedName entry={group[0]} /> {label}
                </th>
                <td className="number">
                  {pairedText(
                    pairedBySeed(seedValues(first, key), seedValues(group, key)),
                    isShare(key),
                  )}
                </td>
              </tr>
            )),
          )}
        </tbody>
      </table>
    </div>
  )
}

export function KeyMetrics({ runs }: { readonly runs: readonly RunEntry[] }) {
  return (
    <>
      <div className="scroll" tabIndex={0} role="group" aria-label="Numbers of the ticked runs">
        <table className="compare-table" data-testid="key-metrics">
          <thead>
            <tr>
              <th scope="col">last (highest)</th>
              {runs.map((entry) => (
                <th key={entry.id} scope="col">
                  <MarkedName entry={entry} />
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {METRIC_CHOICES.map(({ key, label }) => (
              <tr key={key}>
                <th scope="row">{label}</th>
                {runs.map((entry) => (
                  <td key={entry.id} className="number">
                    {numberText(summaryValue(entry, key, 'last'), isShare(key))}
                    <small className="soft">
                      {' '}
                      ({numberText(summaryValue(entry, key, 'highest'), isShare(key))})
                    </small>
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <Paired runs={runs} />
    </>
  )
}
