// Draws the heading of a group of runs: how many, their means, and how far they lie apart.
import { ChevronDown, ChevronRight } from 'lucide-react'
import type { RunEntry } from '../../../page/runs/library/library_store.ts'
import { numberText } from '../../shown/run_words.ts'
import { columnLabel } from '../base/columns.ts'
import type { GroupValue, RowGroup } from '../base/groups.ts'
import { tickAll } from '../base/selection.ts'
import { fixedColumns, type TableView } from '../base/table.ts'
import { narrowSpread, spreadWords } from './spread.ts'

/** '83.1 % [80.0–86.2 %] n = 3'; of one run its number. */
function Mean(props: {
  readonly of: GroupValue | undefined
  readonly entries: readonly RunEntry[]
  readonly choice: string
  readonly inShares: boolean
}) {
  const { of, entries, choice, inShares } = props
  if (!of) return null
  const { n, mean, spread, why } = of
  if (why !== '') return <small className="soft group-spread">{`no mean: ${why}`}</small>
  return (
    <span
      title={spread ? spreadWords(spread) : 'Of one seed: training it again gives the same number'}
    >
      {numberText(mean, inShares)}
      <small className="soft group-spread">
        {spread ? <span>{narrowSpread(spread, entries, choice, inShares)} </span> : null}
        <span>n = {n}</span>
      </small>
    </span>
  )
}

/** '4 runs, 1 not over, 1 of a seed that is counted': why its means are of fewer. */
function RunCount({ group }: { readonly group: RowGroup }) {
  const { rows, unfinished, again } = group
  return (
    <small className="soft run-count">
      <span>{rows.length === 1 ? '1 run' : `${rows.length} runs`}</span>
      {unfinished > 0 ? <span>{`, ${unfinished} not over`}</span> : null}
      {again > 0 ? <span>{`, ${again} of a seed that is counted`}</span> : null}
    </small>
  )
}

interface GroupRowProps {
  readonly group: RowGroup
  readonly view: TableView
  readonly ticked: readonly string[]
  /** Columns whose numbers are all shares, a line each. */
  readonly shares: string
  readonly isFolded: boolean
  onFold(): void
}

export function GroupRow({ group, view, ticked, shares, isFolded, onFold }: GroupRowProps) {
  const { label, rows, value, columns } = group
  const entries = rows.map(({ entry }) => entry)
  const ids = entries.map(({ id }) => id)
  const allTicked = ids.every((id) => ticked.includes(id))
  const inShares = shares.split('\n')
  const Arrow = isFolded ? ChevronRight : ChevronDown
  return (
    <tr className="run-group" data-testid="run-group">
      <td>
        <label>
          <input
            type="checkbox"
            aria-label={`Compare all runs of ${label}`}
            checked={allTicked}
            onChange={() => tickAll(ids, !allTicked)}
          />
        </label>
      </td>
      <th scope="rowgroup" colSpan={2}>
        <button type="button" className="plain" aria-expanded={!isFolded} onClick={onFold}>
          <Arrow className="icon" aria-hidden="true" />
          <span>
            {label} <RunCount group={group} />
          </span>
        </button>
      </th>
      <td className="number">
        <Mean
          of={value}
          entries={entries}
          choice={view.metric}
          inShares={inShares.includes(`metric:${view.metric}`)}
        />
      </td>
      {view.columns.map((column, i) => (
        <td key={column} className="number run-cell" data-head={columnLabel(column)}>
          <Mean
            of={columns[i]}
            entries={entries}
            choice={column.slice(column.indexOf(':') + 1)}
            inShares={inShares.includes(column)}
          />
        </td>
      ))}
      <td colSpan={fixedColumns(view).length + 1} />
    </tr>
  )
}
