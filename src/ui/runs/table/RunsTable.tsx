// Every run of this browser, one a row.
import { ArrowDown, ArrowUp } from 'lucide-react'
import { useMemo, useState } from 'react'
import { useStore } from 'zustand'
import type { RunEntry } from '../../../lab/runs/library/library.ts'
import { tickedRuns } from '../compare/compared.ts'
import { type Opened, openedStore } from '../opened.ts'
import { RunRow } from './RunRow.tsx'
import { type Selection, selectionStore, setView, tickOnly } from './selection.ts'
import { METRIC_CHOICES, type Sort, type TableView, tableRows } from './table.ts'

const selectView = ({ view }: Selection) => view
const selectTicked = ({ ticked }: Selection) => ticked
const selectOpened = ({ opened }: { readonly opened: Opened | undefined }) => opened?.id

function metricLabel({ metric, statistic, is_smoothed }: TableView): string {
  const choice = METRIC_CHOICES.find(({ key }, i) => key === metric || (i === 0 && metric === ''))
  return `${choice?.label ?? metric}, ${statistic}${is_smoothed ? ', smoothed' : ''}`
}

function Head(props: { sort: Sort; label: string; view: TableView }) {
  const { sort, label, view } = props
  const is_sorted = view.sort === sort
  const Arrow = view.is_descending ? ArrowDown : ArrowUp
  return (
    <th
      scope="col"
      className={`run-${sort}`}
      aria-sort={is_sorted ? (view.is_descending ? 'descending' : 'ascending') : undefined}
    >
      <button
        type="button"
        className="plain"
        data-testid={`sort-${sort}`}
        onClick={() =>
          setView({
            sort,
            // Names read downwards, numbers from the largest.
            is_descending: is_sorted ? !view.is_descending : sort !== 'name' && sort !== 'status',
          })
        }
      >
        {label}
        {is_sorted ? <Arrow className="icon" aria-hidden="true" /> : null}
      </button>
    </th>
  )
}

/** `ids` of the rows, in any order. */
function Heads(props: { view: TableView; ids: readonly string[]; ticked: readonly string[] }) {
  const { view, ids, ticked } = props
  const all_ticked = ids.length > 0 && ids.every((id) => ticked.includes(id))
  return (
    <thead>
      <tr>
        <th scope="col">
          <label>
            <input
              type="checkbox"
              aria-label="Tick all runs of the table"
              checked={all_ticked}
              onChange={() => tickOnly(all_ticked ? [] : ids)}
            />
          </label>
        </th>
        <Head sort="name" label="run" view={view} />
        <Head sort="metric" label={metricLabel(view)} view={view} />
        <Head sort="steps" label="steps" view={view} />
        <Head sort="status" label="status" view={view} />
        <Head sort="started" label="begun" view={view} />
        <th scope="col">
          <span className="visually-hidden">Actions</span>
        </th>
      </tr>
    </thead>
  )
}

export function RunsTable(props: {
  readonly entries: readonly RunEntry[]
  readonly living: string | undefined
}) {
  const { entries, living } = props
  const view = useStore(selectionStore, selectView)
  const ticked = useStore(selectionStore, selectTicked)
  const opened = useStore(openedStore, selectOpened)
  const [edited, setEdited] = useState<string>()
  const rows = useMemo(() => tableRows(entries, view), [entries, view])
  const colors = useMemo(
    () => new Map(tickedRuns(ticked, entries).map(({ id, labels }) => [id, labels.color])),
    [ticked, entries],
  )
  return (
    // A region that scrolls must be reachable by keyboard.
    <div className="scroll runs-scroll" tabIndex={0} role="group" aria-label="Table of runs">
      <table className="runs-table" data-testid="runs-table">
        <Heads view={view} ids={rows.map(({ entry }) => entry.id)} ticked={ticked} />
        <tbody>
          {rows.map((row) => (
            <RunRow
              key={row.entry.id}
              row={row}
              color={colors.get(row.entry.id) ?? row.entry.labels.color}
              choice={view.metric}
              is_ticked={ticked.includes(row.entry.id)}
              is_shown={opened === undefined ? row.entry.id === living : row.entry.id === opened}
              is_living={row.entry.id === living}
              is_edited={row.entry.id === edited}
              onEdit={(is_edited) => setEdited(is_edited ? row.entry.id : undefined)}
            />
          ))}
        </tbody>
      </table>
      {rows.length === 0 ? <p className="soft runs-none">No run matches.</p> : null}
    </div>
  )
}
