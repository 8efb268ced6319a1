// Draws every run of this browser, one a row, under headings where they are grouped.
import { ArrowDown, ArrowUp } from 'lucide-react'
import { type ReactNode, useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { useStore } from 'zustand'
import type { RunEntry } from '../../../page/runs/library/library_store.ts'
import { type Opened, openedStore } from '../../open/opened_run.ts'
import { choiceLabel } from '../base/choices.ts'
import { columnLabel, toldBy } from '../base/columns.ts'
import { drawnGroups } from '../base/compared.ts'
import { type RowGroup, rowGroups } from '../base/groups.ts'
import { type Selection, selectionStore, setView, tickOnly } from '../base/selection.ts'
import {
  FIRST_VIEW,
  fixedColumns,
  type Row,
  type Sort,
  type TableView,
  tableRows,
  viewAmong,
} from '../base/table.ts'
import { GroupRow } from './GroupRow.tsx'
import { RunRow } from './RunRow.tsx'
import { SPREAD_NOTE } from './spread.ts'
import { isMixed, shareColumns } from './units.ts'

const selectView = ({ view }: Selection) => view
const selectBand = ({ band }: Selection) => band
const selectTicked = ({ ticked }: Selection) => ticked
const selectOpened = ({ opened }: { readonly opened: Opened | undefined }) => opened?.id

/** Rows that are made at once; more follow where the end of the table comes into sight. */
const ROWS_AT_ONCE = 60

function metricLabel(
  { metric, statistic, isSmoothed }: TableView,
  entries: readonly RunEntry[],
): string {
  return `${choiceLabel(metric, entries)}: ${statistic}${isSmoothed ? ', smoothed' : ''}`
}

/** Ticks make a comparison below the table, which can be far down. */
function ToComparison({ count }: { readonly count: number }) {
  return (
    <button
      type="button"
      className="plain to-comparison"
      data-testid="to-comparison"
      onClick={() => document.getElementById('compare-title')?.scrollIntoView()}
    >
      Comparison of {count} runs <ArrowDown className="icon" aria-hidden="true" />
    </button>
  )
}

interface HeadProps {
  readonly sort: Sort
  readonly label: string
  readonly view: TableView
  readonly title?: string
  readonly children?: ReactNode
}

function Head({ sort, label, view, title, children }: HeadProps) {
  const isSorted = view.sort === sort
  const Arrow = view.isDescending ? ArrowDown : ArrowUp
  return (
    <th
      scope="col"
      className={`run-${view.columns.includes(sort) ? 'cell' : sort}`}
      title={title}
      aria-sort={isSorted ? (view.isDescending ? 'descending' : 'ascending') : undefined}
    >
      <button
        type="button"
        className="plain"
        data-testid={`sort-${sort}`}
        onClick={() =>
          setView({
            sort,
            // Names read downwards, numbers from the largest.
            isDescending: isSorted ? !view.isDescending : sort !== 'name' && sort !== 'status',
          })
        }
      >
        {label}
        {isSorted ? <Arrow className="icon" aria-hidden="true" /> : null}
      </button>
      {children}
    </th>
  )
}

/** Percentages are told by their sign; nothing else tells that shares are not written so. */
function Unit(props: { readonly column: string; readonly entries: readonly RunEntry[] }) {
  return isMixed(props.column, props.entries) ? (
    <small
      className="run-unit"
      title="Of some of these runs nobody knows whether the number is a share of 1, so none is written as a percentage"
    >
      plain numbers, no percent
    </small>
  ) : null
}

interface HeadsProps {
  readonly view: TableView
  /** Of the rows, in any order. */
  readonly entries: readonly RunEntry[]
  readonly ticked: readonly string[]
}

function Heads({ view, entries, ticked }: HeadsProps) {
  const ids = entries.map(({ id }) => id)
  const allTicked = ids.length > 0 && ids.every((id) => ticked.includes(id))
  return (
    <thead>
      <tr>
        <th scope="col">
          <label>
            <input
              type="checkbox"
              aria-label="Tick all runs of the table"
              checked={allTicked}
              onChange={() => tickOnly(allTicked ? [] : ids)}
            />
          </label>
        </th>
        <Head sort="name" label="run" view={view}>
          {ticked.length > 1 ? <ToComparison count={ticked.length} /> : null}
        </Head>
        <th scope="col" className="run-course">
          over its steps
        </th>
        <Head sort="metric" label={metricLabel(view, entries)} view={view}>
          <Unit column={`metric:${view.metric}`} entries={entries} />
        </Head>
        {view.columns.map((column) => (
          <Head
            key={column}
            sort={column}
            label={columnLabel(column, view.columns)}
            view={view}
            title={column.slice(column.indexOf(':') + 1)}
          >
            <Unit column={column} entries={entries} />
          </Head>
        ))}
        {fixedColumns(view).map(({ key, label }) => (
          <Head key={key} sort={key} label={label} view={view} />
        ))}
        <th scope="col" className="run-last">
          <span className="visually-hidden">Actions</span>
        </th>
      </tr>
    </thead>
  )
}

/** How many rows are made: a part at first, the next part where the end of the table comes into
 * sight. */
function useSomeRows(count: number) {
  const end = useRef<HTMLButtonElement>(null)
  const [limit, setLimit] = useState(ROWS_AT_ONCE)
  const hasMore = count > limit
  const more = useCallback(() => setLimit((before) => before + ROWS_AT_ONCE), [])
  // biome-ignore lint/correctness/useExhaustiveDependencies: observed again for each part, whose end may be in sight still.
  useEffect(() => {
    if (!hasMore || !end.current) return
    const observer = new IntersectionObserver(([{ isIntersecting }]) => {
      if (isIntersecting) more()
    })
    observer.observe(end.current)
    return () => observer.disconnect()
  }, [hasMore, limit, more])
  return { limit, end, more }
}

function toggled(keys: ReadonlySet<string>, key: string): ReadonlySet<string> {
  const next = new Set(keys)
  if (!next.delete(key)) next.add(key)
  return next
}

/** What each run's number is of; of none where all are of the same, which the head says. */
function toldOf(rows: readonly Row[], choice: string): ReadonlyMap<string, string | undefined> {
  const told = new Map(rows.map(({ entry }) => [entry.id, toldBy(entry, choice)]))
  return new Set(told.values()).size > 1 ? told : new Map()
}

interface RowsProps {
  readonly rows: readonly Row[]
  readonly groups: readonly RowGroup[] | undefined
  readonly limit: number
  readonly view: TableView
  readonly ticked: readonly string[]
  readonly shares: string
  renderRow(row: Row): ReactNode
}

function Rows({ rows, groups, limit, view, ticked, shares, renderRow }: RowsProps) {
  const [folded, setFolded] = useState<ReadonlySet<string>>(new Set())
  if (!groups) return <tbody>{rows.slice(0, limit).map(renderRow)}</tbody>
  let left = limit
  return groups.map((group) => {
    if (left <= 0) return null
    const isFolded = !group.isAlone && folded.has(group.key)
    const shown = isFolded ? [] : group.rows.slice(0, left)
    left -= shown.length + 1
    return (
      <tbody key={group.key} className={group.isAlone ? 'run-alone' : 'run-members'}>
        {group.isAlone ? null : (
          <GroupRow
            group={group}
            view={view}
            ticked={ticked}
            shares={shares}
            isFolded={isFolded}
            onFold={() => setFolded((before) => toggled(before, group.key))}
          />
        )}
        {shown.map(renderRow)}
      </tbody>
    )
  })
}

/** The columns whose numbers are all shares, a line each. */
const useShares = (rows: readonly Row[], { metric, columns }: TableView): string =>
  useMemo(
    () =>
      shareColumns(
        [`metric:${metric}`, ...columns],
        rows.map(({ entry }) => entry),
      ),
    [rows, metric, columns],
  )

/** What stands in brackets, where runs are together. */
const SpreadNote = ({ groups }: Pick<RowsProps, 'groups'>) =>
  groups?.some(({ isAlone }) => !isAlone) ? (
    <p className="soft" data-testid="spread-note">
      {SPREAD_NOTE}
    </p>
  ) : null

interface RunsTableProps {
  readonly entries: readonly RunEntry[]
  readonly living: string | undefined
}

export function RunsTable({ entries, living }: RunsTableProps) {
  const chosen = useStore(selectionStore, selectView)
  const view = useMemo(() => viewAmong(chosen, entries), [chosen, entries])
  const ticked = useStore(selectionStore, selectTicked)
  const band = useStore(selectionStore, selectBand)
  const opened = useStore(openedStore, selectOpened)
  const [edited, setEdited] = useState<string>()
  const rows = useMemo(() => tableRows(entries, view), [entries, view])
  const groups = useMemo(() => rowGroups(rows, view), [rows, view])
  const { limit, end, more } = useSomeRows(rows.length + (groups?.length ?? 0))
  const colors = useMemo(
    () =>
      new Map(
        drawnGroups(entries, { ticked, band, view }).flatMap((group) =>
          [...group.entries, ...group.again].map(({ id, labels }) => [id, labels.color]),
        ),
      ),
    [entries, ticked, band, view],
  )
  const told = useMemo(() => toldOf(rows, chosen.metric), [rows, chosen.metric])
  const shares = useShares(rows, view)
  const today = new Date().setHours(0, 0, 0, 0)
  const renderRow = (row: Row) => {
    const { id } = row.entry
    return (
      <RunRow
        key={id}
        row={row}
        color={colors.get(id)}
        choice={view.metric}
        told={told.get(id)}
        columns={view.columns}
        shares={shares}
        without={view.without}
        isTicked={ticked.includes(id)}
        isShown={opened === undefined ? id === living : id === opened}
        isLiving={id === living}
        isEdited={id === edited}
        today={today}
        onEdit={setEdited}
      />
    )
  }
  return (
    // A region that scrolls must be reachable by keyboard.
    <div className="scroll runs-scroll" tabIndex={0} role="group" aria-label="Table of runs">
      <table
        className="runs-table"
        data-testid="runs-table"
        data-wide={view.columns.length > FIRST_VIEW.columns.length || undefined}
      >
        <Heads
          view={view}
          entries={rows.length > 0 ? rows.map(({ entry }) => entry) : entries}
          ticked={ticked}
        />
        <Rows
          rows={rows}
          groups={groups}
          limit={limit}
          view={view}
          ticked={ticked}
          shares={shares}
          renderRow={renderRow}
        />
      </table>
      {rows.length + (groups?.length ?? 0) > limit ? (
        <button ref={end} type="button" className="plain" data-testid="more-runs" onClick={more}>
          Show more of {rows.length} runs
        </button>
      ) : null}
      <SpreadNote groups={groups} />
      {rows.length === 0 ? <p className="soft runs-none">No run matches.</p> : null}
    </div>
  )
}
