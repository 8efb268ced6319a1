// What the table shows: a search, the metric of its last column, hidden runs.
import { Search } from 'lucide-react'
import { useMemo } from 'react'
import { useStore } from 'zustand'
import type { RunEntry } from '../../../lab/runs/library/library.ts'
import { SMOOTHING, STATISTICS } from '../../../lab/runs/record/summary.ts'
import { type Selection, selectionStore, setView } from './selection.ts'
import { METRIC_CHOICES, metricNames } from './table.ts'

const selectView = ({ view }: Selection) => view

/** Which number of every run the last column shows. */
function NumberChoice({ entries }: { readonly entries: readonly RunEntry[] }) {
  const view = useStore(selectionStore, selectView)
  const key = metricNames(entries).join('\n')
  const names = useMemo(() => key.split('\n').filter(Boolean), [key])
  return (
    <>
      <label>
        <span className="soft">Show</span>
        <select
          data-testid="runs-statistic"
          value={view.statistic}
          onChange={({ target }) =>
            setView({ statistic: STATISTICS.find((known) => known === target.value) ?? 'last' })
          }
        >
          {STATISTICS.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </label>
      <label>
        <span className="soft">of</span>
        <select
          data-testid="runs-metric"
          value={view.metric}
          onChange={({ target }) => setView({ metric: target.value })}
        >
          {METRIC_CHOICES.map(({ key, label }, i) => (
            <option key={key} value={i === 0 ? '' : key}>
              {label}
            </option>
          ))}
          <optgroup label="All metrics">
            {names.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </optgroup>
        </select>
      </label>
    </>
  )
}

export function Toolbar({ entries }: { readonly entries: readonly RunEntry[] }) {
  const view = useStore(selectionStore, selectView)
  const hidden = entries.filter(({ labels }) => labels.hidden).length
  return (
    <div className="runs-toolbar" role="search" aria-label="Runs">
      <label className="runs-search">
        <Search className="icon" aria-hidden="true" />
        <span className="visually-hidden">Search runs</span>
        <input
          type="text"
          data-testid="runs-search"
          placeholder="Search names, notes, tasks …"
          value={view.search}
          onChange={({ target }) => setView({ search: target.value })}
        />
      </label>
      <NumberChoice entries={entries} />
      <label
        title={`Exponential moving average over the steps that measured it, weight ${SMOOTHING}, started without bias`}
      >
        <input
          type="checkbox"
          checked={view.is_smoothed}
          onChange={({ target }) => setView({ is_smoothed: target.checked })}
        />
        smoothed
      </label>
      {hidden > 0 ? (
        <label>
          <input
            type="checkbox"
            data-testid="runs-with-hidden"
            checked={view.with_hidden}
            onChange={({ target }) => setView({ with_hidden: target.checked })}
          />
          hidden runs ({hidden})
        </label>
      ) : null}
    </div>
  )
}
