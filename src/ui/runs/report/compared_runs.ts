// Writes how the runs of a report differ: seed by seed as a table, and every measured value as a
// file for other programs.
import { csvTable, markdownText } from '../../../formats/text_tables.ts'
import type { RunEntry } from '../../../page/runs/library/library_store.ts'
import { baselineFirst } from '../../../record/compare/compare.ts'
import { runName } from '../../../record/run/names.ts'
import { seedOf } from '../../../record/run/record.ts'
import { NONE } from '../../kit/format.ts'
import { t } from '../../kit/translator.ts'
import { differenceText } from '../../shown/run_words.ts'
import { isOneMeasure } from '../base/choices.ts'
import { cellOf, isShare, metricOf } from '../base/columns.ts'
import { groupRuns } from '../base/groups.ts'
import { haveSeedInCommon, pairedRuns } from '../base/paired.ts'
import { pairedSpread } from '../table/spread.ts'
import { metricLabels, metricsOf, type Reading, type ReportRun, table } from './report_runs.ts'

/** Each group against the first, seed by seed; '' where nothing is paired. */
export function differencesTable(entries: readonly RunEntry[], reading: Reading): string {
  const groups = groupRuns(entries, reading, reading.names).filter(
    ({ counted }) => counted.length > 0,
  )
  const [first, ...others] = baselineFirst(groups, ({ counted }) => counted)
  const has =
    first &&
    haveSeedInCommon(
      first.counted,
      others.map(({ counted }) => counted),
    )
  if (!has) return ''
  const all = [...first.counted, ...others.flatMap((group) => group.counted)]
  const told = table(
    ['difference', ...metricLabels(all)].map(t),
    others.map(({ label, counted }) => [
      t(label),
      ...metricsOf(all).map(({ key, column }) => {
        const { pairs, spread } = pairedRuns(first.counted, counted, (entry) => {
          const value = cellOf(entry, column, reading)
          return typeof value === 'number' ? value : undefined
        })
        const both = [...first.counted, ...counted]
        if (pairs.length === 0 || !isOneMeasure(key, both)) return NONE
        const inShares = isShare(key, both)
        const mean = differenceText(spread ? spread.mean : pairs[0].difference, inShares)
        return t(
          `${mean} ${spread ? pairedSpread(spread, inShares) : `(seed ${pairs[0].seed} alone)`}`,
        )
      }),
    ]),
  )
  const words = t(
    `What stands above minus that of “${first.label}”, paired by seed; in brackets the lowest and the highest, from 5 seeds on the 95 % interval (Student’s t). One seed shows no more than itself.`,
  )
  return `${told}\n\n${markdownText(words)}`
}

/** Every value that the pictures of the key metrics are drawn from. */
export function curvesFile(runs: readonly ReportRun[]): string {
  const metrics = metricsOf(runs.map(({ entry }) => entry))
  const rows = runs.flatMap(({ entry, columns }) =>
    metrics.flatMap(({ key }) => {
      const name = metricOf(entry, key)
      const column = columns.get(name)
      return Array.from({ length: column?.length ?? 0 }, (_, i) => [
        runName(entry).name,
        seedOf(entry.header),
        name,
        column?.steps[i],
        column?.values[i],
      ])
    }),
  )
  return csvTable([['run', 'seed', 'metric', 'step', 'value'], ...rows])
}
