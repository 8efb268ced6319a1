// The rows of the table under headings: runs that share a setting, a fact or everything but the seed.

import type { RunEntry } from '../../../page/runs/library/library.ts'
import { bySettings, differences } from '../../../record/compare/compare.ts'
import { type MeanInterval, meanInterval } from '../../../record/compare/statistics.ts'
import { runName } from '../../../record/run/names.ts'
import { NONE } from '../../kit/format.ts'
import { cellOf, cellText, columnLabel, isMetric } from './columns.ts'
import type { Row, TableView } from './table.ts'

/** Runs that differ in nothing but the seed. */
export const BY_SETTINGS = 'seeds'

export interface RowGroup {
  readonly key: string
  readonly label: string
  readonly rows: readonly Row[]
  /** Of the chosen number over the group, and of each column that is a metric. */
  readonly value: MeanInterval | undefined
  readonly columns: readonly (MeanInterval | undefined)[]
}

const numbers = (values: readonly unknown[]): number[] =>
  values.filter((value): value is number => Number.isFinite(value))

/** An automatic name less the seed, which a group of seeds does not have. */
const withoutSeedWords = (name: string): string =>
  name
    .split(', ')
    .filter((word) => !/^seed \d+$/.test(word))
    .join(', ')

/** Settings that a label names; groups that differ in more keep their names. */
const MOST_NAMED = 3

/** What groups of seeds are called, by a run of each: a name that a person gave, else what tells them apart. */
function seedlessLabels(firsts: readonly RunEntry[]): string[] {
  const found = differences(firsts.map(({ header }) => header.document)).filter(
    ({ path }) => path !== 'seed',
  )
  const are_few = found.length > 0 && found.length <= MOST_NAMED
  return firsts.map((entry, i) => {
    const { name, from, is_automatic } = runName(entry)
    if (!is_automatic) return name
    if (!are_few) return withoutSeedWords(name) || from
    return found
      .map(({ path, values }) => `${columnLabel(`setting:${path}`)} ${values[i] ?? NONE}`)
      .join(', ')
  })
}

/** Runs that a group of the table has together; the same for a chart's bands. */
export function groupRuns(
  entries: readonly RunEntry[],
  view: Pick<TableView, 'group' | 'statistic' | 'is_smoothed'>,
): { readonly label: string; readonly entries: readonly RunEntry[] }[] {
  const { group } = view
  if (group === '' || group === BY_SETTINGS) {
    const groups = bySettings(
      entries.map((entry) => ({ entry, experiment: entry.header.document })),
    ).map((own) => own.map(({ entry }) => entry))
    const labels = seedlessLabels(groups.map(([first]) => first))
    return groups.map((own, i) => ({ label: labels[i], entries: own }))
  }
  const groups = new Map<string, RunEntry[]>()
  for (const entry of entries) {
    const label = `${columnLabel(group)}: ${cellText(cellOf(entry, group, view), group)}`
    groups.set(label, [...(groups.get(label) ?? []), entry])
  }
  return [...groups].map(([label, own]) => ({ label, entries: own }))
}

/** Rows under their headings, in the order of each group's first row; undefined where the table is not grouped. */
export function rowGroups(rows: readonly Row[], view: TableView): RowGroup[] | undefined {
  if (view.group === '') return undefined
  const byEntry = new Map(rows.map((row) => [row.entry, row]))
  return groupRuns(
    rows.map(({ entry }) => entry),
    view,
  ).map(({ label, entries }) => {
    const own = entries.flatMap((entry) => byEntry.get(entry) ?? [])
    return {
      key: `${label} ${own[0].entry.id}`,
      label,
      rows: own,
      value: meanInterval(numbers(own.map(({ value }) => value))),
      columns: view.columns.map((column, i) =>
        isMetric(column) ? meanInterval(numbers(own.map(({ cells }) => cells[i]))) : undefined,
      ),
    }
  })
}
