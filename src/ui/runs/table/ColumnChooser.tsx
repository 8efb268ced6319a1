// Chooses the settings, metrics and facts that are columns of the table.
import { useMemo, useState } from 'react'
import { useStore } from 'zustand'
import type { RunEntry } from '../../../page/runs/library/library_store.ts'
import { searchable } from '../../kit/fuzzy.ts'
import { columnGroups, columnLabel } from '../base/columns.ts'
import { type Selection, selectionStore, setView } from '../base/selection.ts'

const selectColumns = ({ view }: Selection) => view.columns
/** Columns of a group that are shown at once; the search finds the others. */
const MOST_SHOWN = 12

function toggle(columns: readonly string[], column: string): void {
  const others = columns.filter((other) => other !== column)
  setView({ columns: others.length < columns.length ? others : [...columns, column] })
}

/** What a person would look for: the name, and the whole path. */
const isFound = (column: string, words: readonly string[]): boolean => {
  const text = searchable([column, columnLabel(column)]).replaceAll('_', ' ')
  return words.every((word) => text.includes(word))
}

export function ColumnChooser({ entries }: { readonly entries: readonly RunEntry[] }) {
  const columns = useStore(selectionStore, selectColumns)
  const groups = useMemo(() => columnGroups(entries), [entries])
  const [query, setQuery] = useState('')
  const words = query.toLowerCase().replaceAll('_', ' ').split(/\s+/).filter(Boolean)
  const found = groups.map(({ name, columns }) => ({
    name,
    columns: columns.filter((column) => isFound(column, words)),
  }))
  return (
    <div className="runs-choose" id="runs-columns-panel" data-testid="runs-columns-panel">
      <label>
        <span className="visually-hidden">Search columns</span>
        <input
          type="text"
          data-testid="columns-search"
          placeholder="Search settings and metrics, such as lr or entropy"
          value={query}
          onChange={({ target }) => setQuery(target.value)}
        />
      </label>
      {found.map((group) => {
        const shown = group.columns.filter(
          (column, i) => i < MOST_SHOWN || columns.includes(column),
        )
        return group.columns.length === 0 ? null : (
          <fieldset key={group.name}>
            <legend>{group.name}</legend>
            {shown.map((column) => (
              <label key={column} title={column.slice(column.indexOf(':') + 1)}>
                <input
                  type="checkbox"
                  data-column={column}
                  checked={columns.includes(column)}
                  onChange={() => toggle(columns, column)}
                />
                {columnLabel(column, group.columns)}
              </label>
            ))}
            {shown.length < group.columns.length ? (
              <span className="soft">
                and {group.columns.length - shown.length} more: search for them
              </span>
            ) : null}
          </fieldset>
        )
      })}
      {found.every((group) => group.columns.length === 0) ? (
        <p className="soft">No setting, metric or fact of these runs is called so.</p>
      ) : null}
    </div>
  )
}
