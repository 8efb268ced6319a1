// Makes the rows of the table of runs: searched, sorted, with the number that was asked for.
import type { RunEntry } from '../../../page/runs/library/library_store.ts'
import { runName } from '../../../record/run/names.ts'
import type { RunHeader } from '../../../record/run/record.ts'
import type { Statistic } from '../../../record/run/summary.ts'
import { searchable } from '../../kit/fuzzy.ts'
import { type DistinctName, distinctNames } from '../../shown/names/distinct_names.ts'
import { statusWord } from '../../shown/run_words.ts'
import { choiceAmong, columnAmong } from './choices.ts'
import { type Cell, cellOf, sourceOf } from './columns.ts'
import { type Filter, holds } from './filters.ts'

/** A fixed column, or one of `columns`. */
export type Sort = 'name' | 'status' | 'started' | 'steps' | 'metric' | (string & {})

export interface TableView {
  readonly search: string
  /** '' = held-out accuracy. */
  readonly metric: string
  readonly statistic: Statistic
  readonly isSmoothed: boolean
  readonly withHidden: boolean
  /** Also runs that studies keep. */
  readonly withStudies: boolean
  /** Beside the fixed columns (columns.ts). */
  readonly columns: readonly string[]
  /** Of FIXED, those that are left out. */
  readonly without: readonly string[]
  readonly filters: readonly Filter[]
  /** What runs are put together by: '', `BY_SETTINGS` or a column. */
  readonly group: string
  readonly sort: Sort
  readonly isDescending: boolean
}

/** Columns that stand behind the chosen ones, each with what its head says. */
export const FIXED = [
  { key: 'steps', label: 'steps' },
  { key: 'status', label: 'status' },
  { key: 'started', label: 'begun' },
] as const

/** Those of them that a view has. */
export const fixedColumns = ({ without }: Pick<TableView, 'without'>): (typeof FIXED)[number][] =>
  FIXED.filter(({ key }) => !without.includes(key))

export const FIRST_VIEW: TableView = {
  search: '',
  metric: '',
  statistic: 'last',
  isSmoothed: false,
  withHidden: false,
  withStudies: false,
  columns: ['metric:score', 'metric:entropy'],
  without: [],
  filters: [],
  group: '',
  sort: 'started',
  isDescending: true,
}

const ENTROPIES = ['metric:entropy', 'metric:policy_entropy']

/** The view with the numbers that these runs have in common (choiceAmong). */
export function viewAmong(view: TableView, entries: readonly RunEntry[]): TableView {
  const among = (column: string) => columnAmong(column, entries)
  const columns = [...new Set(view.columns.map(among))]
  const { sort } = view
  return {
    ...view,
    metric: choiceAmong(view.metric, entries),
    columns,
    filters: view.filters.map((filter) => ({ ...filter, column: among(filter.column) })),
    // Sorted by either, and whichever is there now.
    sort: ENTROPIES.includes(sort)
      ? (columns.find((own) => ENTROPIES.includes(own)) ?? sort)
      : sort,
  }
}

export interface Row {
  readonly entry: RunEntry
  readonly name: string
  /** What an automatic name is measured against. */
  readonly from: string
  /** Its name without the seed. */
  readonly seedless: string
  readonly value: number | undefined
  /** What the chosen columns say, in their order. */
  readonly cells: readonly Cell[]
}

/** The row of a run as it was made last: a run that did not change keeps it, and is not rendered
 * again. */
const known = new WeakMap<RunEntry, { readonly key: string; readonly row: Row }>()

function rowOf(entry: RunEntry, view: TableView, called: DistinctName | undefined): Row {
  const { metric, statistic, isSmoothed, columns } = view
  const { from, ...run } = runName(entry)
  const { name, seedless } = called ?? run
  const said = [metric, statistic, isSmoothed, name, seedless, ...columns]
  const key = said.join('\n')
  const before = known.get(entry)
  if (before?.key === key) return before.row
  const value = cellOf(entry, `metric:${metric}`, view)
  const row = {
    entry,
    name,
    from,
    seedless,
    value: typeof value === 'number' ? value : undefined,
    cells: columns.map((column) => cellOf(entry, column, view)),
  }
  known.set(entry, { key, row })
  return row
}

const words = (text: string) => text.toLowerCase().split(/\s+/).filter(Boolean)

/** Whether every word of the search is in a run's name, notes, tags, task, preset, adapter,
 * source or status. */
function isFound({ entry, name, from }: Row, search: readonly string[]): boolean {
  const { header, labels } = entry
  const { task, seed } = header.experiment
  const text = searchable([
    name,
    from,
    runName(entry).differs,
    ...runName(entry).words,
    labels.notes,
    ...labels.tags,
    task.id,
    `seed ${seed}`,
    header.experiment.name,
    header.adapter,
    header.study?.name ?? '',
    sourceOf(header),
    statusWord(header),
  ])
  return search.every((word) => text.includes(word))
}

const compareText = new Intl.Collator('en', { numeric: true }).compare

/** Absent numbers come last, whichever way the table is sorted. */
function order(a: Row, b: Row, { sort, isDescending, columns }: TableView): number {
  const sign = isDescending ? -1 : 1
  const at = columns.indexOf(sort)
  const keyOf = ({ entry: { header }, name, value, cells }: Row): Cell => {
    if (sort === 'name') return name
    if (sort === 'status') return statusWord(header)
    if (sort === 'started') return begunAt(header)
    if (sort === 'steps') return header.step
    return at < 0 ? value : cells[at]
  }
  const [x, y] = [keyOf(a), keyOf(b)]
  const [hasX, hasY] = [x, y].map((key) => key !== undefined && !Number.isNaN(key))
  if (!hasX || !hasY) return Number(hasY) - Number(hasX)
  if (typeof x === 'number' && typeof y === 'number') return sign * (x - y)
  return sign * compareText(`${x}`, `${y}`)
}

/** When a run began; that of a log which does not say it, when it was imported. */
export const begunAt = ({ source, started_at }: RunHeader): number => source?.begun ?? started_at

/** Runs of which nobody knows when they began stay in their order, behind the others. */
const tie = ({ entry }: Row): number => begunAt(entry.header) || 0

const rank = ({ entry: { labels } }: Row) => (labels.pinned ? 0 : 1)

/** The rows of the table: pinned ones first, then as sorted; ties by the start, newest first. */
export function tableRows(entries: readonly RunEntry[], view: TableView): Row[] {
  const search = words(view.search)
  const names = distinctNames(entries)
  return entries
    .filter(
      (entry) =>
        (view.withHidden || !entry.labels.hidden) &&
        view.filters.every((filter) => holds(entry, filter, view)),
    )
    .map((entry) => rowOf(entry, view, names.get(entry.id)))
    .filter((row) => isFound(row, search))
    .sort((a, b) => rank(a) - rank(b) || order(a, b, view) || tie(b) - tie(a))
}
