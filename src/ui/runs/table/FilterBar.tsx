// Draws conditions that the runs of the table fulfil: those that hold, and one more.

import { X } from 'lucide-react'
import { useId, useMemo, useState } from 'react'
import { useStore } from 'zustand'
import type { RunEntry } from '../../../page/runs/library/library_store.ts'
import { cellOf, columnGroups } from '../base/columns.ts'
import { type Filter, filterProblem, filterWords, OPERATORS } from '../base/filters.ts'
import { type Selection, selectionStore, setView } from '../base/selection.ts'
import { ColumnOptions } from './ColumnOptions.tsx'

const selectView = ({ view }: Selection) => view
const MOST_OFFERED = 60

/** The filters that hold, each with a way to drop it. */
export function Filters() {
  const { filters } = useStore(selectionStore, selectView)
  if (filters.length === 0) return null
  return (
    <ul className="runs-filters" aria-label="Filters" data-testid="runs-filters">
      {filters.map((filter, i) => (
        <li key={`${i} ${filterWords(filter)}`}>
          <span title={filter.column}>{filterWords(filter)}</span>
          <button
            type="button"
            className="plain"
            aria-label={`Drop the filter “${filterWords(filter)}”`}
            onClick={() => setView({ filters: filters.filter((other) => other !== filter) })}
          >
            <X className="icon" aria-hidden="true" />
          </button>
        </li>
      ))}
    </ul>
  )
}

/** What the runs have in a column, as words that can be chosen. */
function useValues(entries: readonly RunEntry[], column: string): readonly string[] {
  const view = useStore(selectionStore, selectView)
  return useMemo(() => {
    if (column === 'fact:tags') return [...new Set(entries.flatMap(({ labels }) => labels.tags))]
    const cells = entries.map((entry) => cellOf(entry, column, view))
    const words = cells.map((cell) => (typeof cell === 'boolean' ? (cell ? 'on' : 'off') : cell))
    return [...new Set(words)].flatMap((word) => (word === undefined ? [] : `${word}`))
  }, [entries, column, view])
}

/** One more condition. */
export function NewFilter({ entries }: { readonly entries: readonly RunEntry[] }) {
  const { filters } = useStore(selectionStore, selectView)
  const groups = useMemo(() => columnGroups(entries), [entries])
  const [filter, setFilter] = useState<Filter>({ column: 'fact:tags', operator: 'is', value: '' })
  const values = useValues(entries, filter.column)
  const list = useId()
  const [problem, setProblem] = useState<string>()
  const change = (said: Partial<Filter>) => {
    setFilter({ ...filter, ...said })
    setProblem(undefined)
  }
  return (
    <form
      className="runs-choose runs-new-filter"
      id="runs-filter-panel"
      onSubmit={(event) => {
        event.preventDefault()
        const wrong = filterProblem(filter)
        setProblem(wrong)
        if (wrong !== undefined) return
        setView({ filters: [...filters, filter] })
        setFilter({ ...filter, value: '' })
      }}
    >
      <select
        aria-label="What is compared"
        data-testid="filter-column"
        value={filter.column}
        onChange={({ target }) => change({ column: target.value })}
      >
        <ColumnOptions groups={groups} />
      </select>
      <select
        aria-label="How it is compared"
        data-testid="filter-operator"
        value={filter.operator}
        onChange={({ target }) =>
          change({
            operator: OPERATORS.find(({ operator }) => operator === target.value)?.operator ?? 'is',
          })
        }
      >
        {OPERATORS.map(({ operator, label }) => (
          <option key={operator} value={operator}>
            {label}
          </option>
        ))}
      </select>
      <input
        type="text"
        aria-label="The value"
        data-testid="filter-value"
        list={list}
        value={filter.value}
        aria-invalid={problem !== undefined}
        aria-describedby={problem === undefined ? undefined : `${list}-problem`}
        onChange={({ target }) => change({ value: target.value })}
      />
      <datalist id={list}>
        {values.slice(0, MOST_OFFERED).map((value) => (
          <option key={value} value={value} />
        ))}
      </datalist>
      <button type="submit" data-testid="filter-add">
        Add
      </button>
      {problem === undefined ? null : (
        <span className="bad" role="alert" id={`${list}-problem`} data-testid="filter-problem">
          {problem}
        </span>
      )}
    </form>
  )
}
