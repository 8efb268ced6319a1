// Puts the rows of the table under headings: runs that share a setting, a fact or everything but
// the seed.

import type { RunEntry } from '../../../page/runs/library/library_store.ts'
import { bySettings, onePerSeed } from '../../../record/compare/compare.ts'
import { type MeanSpread, meanSpread } from '../../../record/compare/statistics.ts'
import { runName } from '../../../record/run/names.ts'
import { whyNoMean } from './choices.ts'
import { type Cell, cellOf, cellText, columnLabel, isMetric } from './columns.ts'
import { isOver } from './ends.ts'
import type { Row, TableView } from './table.ts'

/** Runs that differ in nothing but the seed. */
export const BY_SETTINGS = 'seeds'

/** Also what is not grouped in the table is so where it is drawn. */
export const isBySettings = ({ group }: Pick<TableView, 'group'>): boolean =>
  group === '' || group === BY_SETTINGS

export interface RowGroup {
  readonly key: string
  readonly label: string
  readonly rows: readonly Row[]
  /** Of the rows: runs that are not over, and runs of a seed that another one has. No mean has
   * them. */
  readonly unfinished: number
  readonly again: number
  /** Nothing is to be said of a run that is alone but what its own row says. */
  readonly isAlone: boolean
  /** Of the chosen number over the group, and of each column that is a metric. */
  readonly value: GroupValue | undefined
  readonly columns: readonly (GroupValue | undefined)[]
}

/** What runs of a group measured: of one its number, of several their mean. */
export interface GroupValue {
  readonly n: number
  readonly mean: number
  readonly spread: MeanSpread | undefined
  /** Why there is no mean: 'different tasks'; '' where there is one. */
  readonly why: string
}

/** Of the rows that have a number. */
function groupValue(
  rows: readonly Row[],
  choice: string,
  cellOf: (row: Row) => unknown,
): GroupValue | undefined {
  const [entries, known]: [RunEntry[], number[]] = [[], []]
  for (const row of rows) {
    const cell = cellOf(row)
    if (typeof cell !== 'number' || !Number.isFinite(cell)) continue
    entries.push(row.entry)
    known.push(cell)
  }
  if (known.length === 0) return undefined
  const spread = meanSpread(known)
  const why = whyNoMean(choice, entries)
  return { n: known.length, mean: spread?.mean ?? known[0], spread, why }
}

interface RunGroup {
  readonly label: string
  readonly entries: readonly RunEntry[]
  /** Those that a mean is of: of each seed one that is over. */
  readonly counted: readonly RunEntry[]
  /** Those of which nobody knows how they end. */
  readonly unfinished: readonly RunEntry[]
}

const groupOf = (label: string, entries: readonly RunEntry[]): RunGroup => ({
  label,
  entries,
  counted: entries.filter(({ header }) => isOver(header)),
  unfinished: entries.filter(({ header }) => !isOver(header)),
})

/** Runs that a group of the table has together; the same for a chart's bands. */
export function groupRuns(
  entries: readonly RunEntry[],
  view: Pick<TableView, 'group' | 'statistic' | 'isSmoothed'>,
  names?: ReadonlyMap<string, { readonly seedless: string }>,
): RunGroup[] {
  const { group } = view
  if (isBySettings(view))
    return bySettings(entries).map((own) => {
      const label = names?.get(own[0].id)?.seedless ?? runName(own[0]).seedless
      const group = groupOf(label, own)
      const isImported = own.some(({ header }) => header.source)
      return isImported ? group : { ...group, counted: onePerSeed(group.counted) }
    })
  const groups = new Map<string, { readonly cell: Cell; readonly own: RunEntry[] }>()
  for (const entry of entries) {
    const cell = cellOf(entry, group, view)
    const label = `${columnLabel(group)}: ${cellText(cell, group, entry)}`
    groups.set(label, { cell, own: [...(groups.get(label)?.own ?? []), entry] })
  }
  // Of a number in its order, whatever the rows are sorted by; what has none comes last.
  const order = ({ cell }: { readonly cell: Cell }) =>
    typeof cell === 'number' ? cell : Number.POSITIVE_INFINITY
  const all = [...groups]
  const isOrdered = all.some(([, { cell }]) => typeof cell === 'number')
  const sorted = isOrdered ? all.sort(([, a], [, b]) => order(a) - order(b) || 0) : all
  return sorted.map(([label, { own }]) => groupOf(label, own))
}

/** Rows under their headings, in the order of each group's first row; undefined where the table is
 * not grouped. */
export function rowGroups(rows: readonly Row[], view: TableView): RowGroup[] | undefined {
  if (view.group === '') return undefined
  const byEntry = new Map(rows.map((row) => [row.entry, row]))
  return groupRuns(
    rows.map(({ entry }) => entry),
    view,
    new Map(rows.map(({ entry, seedless }) => [entry.id, { seedless }])),
  ).map(({ label, entries, counted, unfinished }) => {
    const own = entries.flatMap((entry) => byEntry.get(entry) ?? [])
    const each = counted.flatMap((entry) => byEntry.get(entry) ?? [])
    return {
      key: `${label} ${own[0].entry.id}`,
      label,
      rows: own,
      unfinished: unfinished.length,
      again: entries.length - counted.length - unfinished.length,
      isAlone: view.group === BY_SETTINGS && own.length === 1,
      value: groupValue(each, view.metric, ({ value }) => value),
      columns: view.columns.map((column, i) =>
        isMetric(column)
          ? groupValue(each, column.slice(column.indexOf(':') + 1), ({ cells }) => cells[i])
          : undefined,
      ),
    }
  })
}
