// Chooses the settings, metrics and facts that are columns of the table.
import { useMemo, useState } from 'react'
import { useStore } from 'zustand'
import type { RunEntry } from '../../../page/runs/library/library_store.ts'
import { searchable } from '../../kit/fuzzy.ts'
import { choiceLabel, choicesFor, columnAmong } from '../base/choices.ts'
import { columnGroups, columnLabel, isMain, isMetric, MAIN } from '../base/columns.ts'
import { metricWords } from '../base/metric_words.ts'
import { type Selection, selectionStore, setView } from '../base/selection.ts'
import { FIXED } from '../base/table.ts'

const selectColumns = ({ view }: Selection) => view.columns
const selectMetric = ({ view }: Selection) => view.metric
const selectWithout = ({ view }: Selection) => view.without
/** Columns of a group that are shown at first. */
const MOST_SHOWN = 12

function toggled(columns: readonly string[], column: string): readonly string[] {
  const others = columns.filter((other) => other !== column)
  return others.length < columns.length ? others : [...columns, column]
}

/** As the head of the table calls it. */
const labelOf = (
  column: string,
  entries: readonly RunEntry[],
  among: readonly string[] = [],
): string =>
  isMetric(column)
    ? choiceLabel(column.slice(column.indexOf(':') + 1), entries)
    : columnLabel(column, among)

/** The column that the table begins with is one of its metrics, also where it is no single one. Of
 * logs, which have one mean of answers, it may be another one too: it is listed once. */
function groupsWith(shownFirst: string, entries: readonly RunEntry[], chosen: readonly string[]) {
  const isAgain = (column: string) =>
    column !== shownFirst &&
    !chosen.includes(column) &&
    labelOf(column, entries) === labelOf(shownFirst, entries)
  return columnGroups(entries).map(({ name, columns }) => {
    if (name !== 'Metrics') return { name, columns }
    const first = shownFirst === `metric:${MAIN}` ? [shownFirst] : []
    const own = columns.map((column) => columnAmong(column, entries))
    return { name, columns: [...new Set([...first, ...own])].filter((one) => !isAgain(one)) }
  })
}

/** What a person would look for: the name, and the whole path. */
const isFound = (column: string, label: string, words: readonly string[]): boolean => {
  const text = searchable([column, label, metricWords(column)]).replaceAll('_', ' ')
  return words.every((word) => text.includes(word))
}

/** The columns that every table has, unless they are left out. */
function FixedColumns() {
  const without = useStore(selectionStore, selectWithout)
  return (
    <fieldset>
      <legend>Behind them</legend>
      {FIXED.map(({ key, label }) => (
        <label key={key}>
          <input
            type="checkbox"
            data-column={key}
            checked={!without.includes(key)}
            onChange={() => setView({ without: toggled(without, key) })}
          />
          {label}
        </label>
      ))}
    </fieldset>
  )
}

/** In words first; behind them what the trainer calls it. Elements alone are said in the page's
 * language. */
function ColumnName(props: { readonly column: string; readonly label: string }) {
  const { label } = props
  const words = metricWords(props.column)
  return words === '' ? (
    <span>{label}</span>
  ) : (
    <span>
      {words} <small className="soft">{label}</small>
    </span>
  )
}

export function ColumnChooser({ entries }: { readonly entries: readonly RunEntry[] }) {
  const chosen = useStore(selectionStore, selectColumns)
  const columns = useMemo(
    () => [...new Set(chosen.map((column) => columnAmong(column, entries)))],
    [chosen, entries],
  )
  const metric = useStore(selectionStore, selectMetric)
  const shownFirst = `metric:${isMain(metric) ? choicesFor(entries)[0].key : metric}`
  const groups = useMemo(
    () => groupsWith(shownFirst, entries, columns),
    [shownFirst, entries, columns],
  )
  const [query, setQuery] = useState('')
  const [whole, setWhole] = useState<readonly string[]>([])
  const words = query.toLowerCase().replaceAll('_', ' ').split(/\s+/).filter(Boolean)
  const found = groups.map(({ name, columns }) => ({
    name,
    columns: columns.filter((column) => isFound(column, labelOf(column, entries), words)),
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
          (column, i) =>
            i < MOST_SHOWN ||
            whole.includes(group.name) ||
            columns.includes(column) ||
            column === shownFirst,
        )
        return group.columns.length === 0 ? null : (
          <fieldset key={group.name}>
            <legend>{group.name}</legend>
            {shown.map((column) => (
              <label
                key={column}
                title={
                  column === shownFirst
                    ? 'The table has it already: “Show … of” chooses it'
                    : column.slice(column.indexOf(':') + 1)
                }
              >
                <input
                  type="checkbox"
                  data-column={column}
                  checked={columns.includes(column) || column === shownFirst}
                  disabled={column === shownFirst && !columns.includes(column)}
                  onChange={() => setView({ columns: toggled(columns, column) })}
                />
                <ColumnName column={column} label={labelOf(column, entries, group.columns)} />
              </label>
            ))}
            {shown.length < group.columns.length ? (
              <button
                type="button"
                data-testid="all-columns"
                onClick={() => setWhole([...whole, group.name])}
              >
                Show all {group.columns.length}
              </button>
            ) : null}
          </fieldset>
        )
      })}
      {query === '' ? <FixedColumns /> : null}
      {found.every((group) => group.columns.length === 0) ? (
        <p className="soft">No setting, metric or fact of these runs is called so.</p>
      ) : null}
    </div>
  )
}
