// Shows the controls above the table: a search, the number of its first column, further columns,
// groups, filters, hidden runs.

import { Columns3, FileInput, Filter, Search } from 'lucide-react'
import { useMemo, useState } from 'react'
import { useStore } from 'zustand'
import { CAN_IMPORT } from '../../../jobs/logs/base/log_kinds.ts'
import type { RunEntry } from '../../../page/runs/library/library_store.ts'
import { SMOOTHING, STATISTICS, type Statistic } from '../../../record/run/summary.ts'
import { choiceAmong, choicesFor } from '../base/choices.ts'
import { columnGroups, columnLabel, metricNames } from '../base/columns.ts'
import { BY_SETTINGS } from '../base/groups.ts'
import { type Selection, selectionStore, setView } from '../base/selection.ts'
import { ColumnChooser } from './ColumnChooser.tsx'
import { ColumnOptions } from './ColumnOptions.tsx'
import { chooseRun } from './choose_run.ts'
import { Filters, NewFilter } from './FilterBar.tsx'
import { NotImported } from './NotImported.tsx'

const selectView = ({ view }: Selection) => view

const SMOOTHED = 'smoothed '

/** What the numbers of a run are called. */
const WORDS: Readonly<Record<Statistic, { readonly label: string }>> = {
  last: { label: 'last' },
  highest: { label: 'highest' },
  lowest: { label: 'lowest' },
}

/** Which number of every run the last column shows. */
function NumberChoice({ entries }: { readonly entries: readonly RunEntry[] }) {
  const view = useStore(selectionStore, selectView)
  const key = metricNames(entries).join('\n')
  const names = useMemo(() => key.split('\n').filter(Boolean), [key])
  const [first, ...choices] = choicesFor(entries)
  const chosen = choiceAmong(view.metric, entries)
  return (
    <div className="runs-shown">
      <label className="runs-view">
        <span className="soft">Show</span>
        <select
          data-testid="runs-statistic"
          title={`Smoothed: exponential moving average over the steps that measured it, weight ${SMOOTHING}, started without bias`}
          value={view.isSmoothed ? `${SMOOTHED}${view.statistic}` : view.statistic}
          onChange={({ target: { value } }) =>
            setView({
              isSmoothed: value.startsWith(SMOOTHED),
              statistic: STATISTICS.find((known) => value.endsWith(known)) ?? 'last',
            })
          }
        >
          {STATISTICS.map((name) => (
            <option key={name} value={name}>
              {WORDS[name].label}
            </option>
          ))}
          {STATISTICS.map((name) => (
            <option key={name} value={SMOOTHED + name}>
              smoothed {WORDS[name].label}
            </option>
          ))}
        </select>
      </label>
      <label className="runs-view">
        <span className="soft">value of</span>
        <select
          data-testid="runs-metric"
          value={chosen === first.key ? '' : chosen}
          onChange={({ target }) => setView({ metric: target.value })}
        >
          <option value="">{first.label}</option>
          {choices.map(({ key, label }) => (
            <option key={key} value={key}>
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
    </div>
  )
}

/** What runs are put together by. */
function Grouping({ entries }: { readonly entries: readonly RunEntry[] }) {
  const { group } = useStore(selectionStore, selectView)
  const groups = useMemo(
    () =>
      columnGroups(entries)
        .filter(({ name }) => name === 'Facts' || name === 'Settings that differ')
        .map(({ name, columns }) => ({
          name,
          columns: columns.filter((column) => column !== 'fact:took' && column !== 'setting:seed'),
        })),
    [entries],
  )
  // A setting in which runs no longer differ stays chosen.
  const isKnown = groups.some(({ columns }) => columns.includes(group))
  return (
    <label className="runs-view">
      <span className="soft">Group by</span>
      <select
        data-testid="runs-group"
        value={group}
        onChange={({ target }) => setView({ group: target.value })}
      >
        <option value="">nothing</option>
        <option value={BY_SETTINGS}>all but the seed</option>
        <ColumnOptions groups={groups} />
        {isKnown || group === '' || group === BY_SETTINGS ? null : (
          <option value={group}>{columnLabel(group)}</option>
        )}
      </select>
    </label>
  )
}

const PANELS = [
  { id: 'columns', label: 'Columns', Icon: Columns3 },
  { id: 'filter', label: 'Filter', Icon: Filter },
] as const

interface ToolbarProps {
  readonly entries: readonly RunEntry[]
  /** Runs that studies keep, which the table has or could have. */
  readonly ofStudies: number
}

export function Toolbar({ entries, ofStudies }: ToolbarProps) {
  const view = useStore(selectionStore, selectView)
  const [open, setOpen] = useState<(typeof PANELS)[number]['id']>()
  const hidden = entries.filter(({ labels }) => labels.hidden).length
  return (
    <div className="runs-toolbar" role="search" aria-label="Runs">
      <div className="runs-find">
        <label className="runs-search">
          <Search className="icon" aria-hidden="true" />
          <span className="visually-hidden">Search runs</span>
          <input
            type="text"
            data-testid="runs-search"
            placeholder="Search runs"
            title="Names, tags, notes and tasks"
            value={view.search}
            onChange={({ target }) => setView({ search: target.value })}
          />
        </label>
        {PANELS.map(({ id, label, Icon }) => (
          <button
            key={id}
            type="button"
            data-testid={`runs-${id}`}
            aria-expanded={open === id}
            aria-controls={`runs-${id}-panel`}
            aria-label={label}
            title={label}
            onClick={() => setOpen(open === id ? undefined : id)}
          >
            <Icon className="icon" aria-hidden="true" /> <span>{label}</span>
          </button>
        ))}
        <ImportRun />
      </div>
      <NotImported />
      <Grouping entries={entries} />
      <NumberChoice entries={entries} />
      {hidden > 0 ? (
        <label>
          <input
            type="checkbox"
            data-testid="runs-with-hidden"
            checked={view.withHidden}
            onChange={({ target }) => setView({ withHidden: target.checked })}
          />
          hidden runs ({hidden})
        </label>
      ) : null}
      {ofStudies > 0 ? (
        <label title="What studies keep of their runs, their own and those that came with the lab: the numbers at the end, the settings, and points of some curves">
          <input
            type="checkbox"
            data-testid="runs-with-studies"
            checked={view.withStudies}
            onChange={({ target }) => setView({ withStudies: target.checked })}
          />
          runs of studies ({ofStudies})
        </label>
      ) : null}
      {open === 'columns' ? <ColumnChooser entries={entries} /> : null}
      {open === 'filter' ? <NewFilter entries={entries} /> : null}
      <Filters />
    </div>
  )
}

/** Brings in the log of a run that was trained elsewhere. */
export function ImportRun() {
  return (
    <button
      type="button"
      data-testid="import-run"
      aria-label="Import a run…"
      title={CAN_IMPORT}
      onClick={chooseRun}
    >
      <FileInput className="icon" aria-hidden="true" /> <span>Import a run…</span>
    </button>
  )
}
