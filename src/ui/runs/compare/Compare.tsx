// Draws the ticked runs side by side.
import { useMemo } from 'react'
import { useStore } from 'zustand'
import { labelRun } from '../../../page/runs/library/library.ts'
import type { RunEntry } from '../../../page/runs/library/library_store.ts'
import { baselineFirst } from '../../../record/compare/compare.ts'
import { FEWEST_FOR_T } from '../../../record/compare/statistics.ts'
import { removeRuns } from '../../open/opened_run.ts'
import { openTab, uiStore } from '../../shown/store.ts'
import { columnLabel } from '../base/columns.ts'
import { type Compared, columnsOf, drawnGroups, placedRuns } from '../base/compared.ts'
import { groupRuns, isBySettings } from '../base/groups.ts'
import {
  MAX_AVERAGED,
  MAX_COMPARED,
  type Selection,
  selectionStore,
  tickOnly,
} from '../base/selection.ts'
import { EntropyMaps } from '../panels/EntropyMaps.tsx'
import { GroupKeys, Panels } from '../panels/Panels.tsx'
import { saveReport } from '../report/save_report.ts'
import { DifferenceTable } from './DifferenceTable.tsx'
import { FlowFigures } from './FlowFigures.tsx'
import { KeyMetrics } from './KeyMetrics.tsx'
import { compareSays, type Said } from './says.ts'

const selectBand = ({ band }: Selection) => band
const selectView = ({ view }: Selection) => view
const selectTicked = ({ ticked }: Selection) => ticked

/** What is drawn, as lines: that of the baseline first, without one the oldest. */
function useCompared(entries: readonly RunEntry[]): readonly Compared[] {
  const selection = useStore(selectionStore)
  return useMemo(
    () => baselineFirst(drawnGroups(entries, selection), (group) => group.entries),
    [entries, selection],
  )
}

/** What is said of them, again once their columns are read. */
function useSaid(groups: readonly Compared[]): Said | undefined {
  const isRead = useStore(uiStore, () =>
    groups.every(({ entries }) => entries.every(({ id }) => columnsOf(id))),
  )
  return useMemo(() => compareSays(groups, isRead ? columnsOf : undefined), [groups, isRead])
}

const BANDS = [
  { band: 'range', label: 'mean, lowest and highest' },
  { band: 't95', label: 'mean and its 95 % interval (Student’s t, from 5 runs on)' },
  { band: undefined, label: 'a line each' },
] as const

/** How runs that belong together are drawn: by the table's groups, else those that differ only in
 * the seed. */
function Bands({ runs }: { readonly runs: readonly RunEntry[] }) {
  const band = useStore(selectionStore, selectBand)
  const view = useStore(selectionStore, selectView)
  const largest = Math.max(0, ...groupRuns(runs, view).map(({ counted }) => counted.length))
  if (largest < 2) return null
  const drawn = band === 't95' && largest < FEWEST_FOR_T ? 'range' : band
  const isSeeds = isBySettings(view)
  return (
    <fieldset
      className="runs-seeds"
      title={`Means are taken at the steps that all runs of a group have measured, over at most ${MAX_AVERAGED} ticked runs. The table’s “Group by” decides which belong together.`}
    >
      <legend>{isSeeds ? 'Seeds of one setting' : `Runs of one ${columnLabel(view.group)}`}</legend>
      {BANDS.map((choice) => (
        <label key={choice.label}>
          <input
            type="radio"
            name="runs-band"
            checked={drawn === choice.band}
            disabled={choice.band === 't95' && largest < FEWEST_FOR_T}
            onChange={() => selectionStore.setState({ band: choice.band })}
          />
          {choice.label}
        </label>
      ))}
    </fieldset>
  )
}

const selectIsBehind = ({ isBehind }: Selection) => isBehind

/** Draws the ticked runs behind the charts of Learning and shows them there, or takes them away. */
function Behind({ count }: { readonly count: number }) {
  const isBehind = useStore(selectionStore, selectIsBehind)
  const change = () => {
    selectionStore.setState({ isBehind: !isBehind })
    if (!isBehind) openTab('learn')
  }
  return (
    <button type="button" data-testid="see-overlays" onClick={change}>
      {isBehind
        ? `Take ${count === 1 ? 'it' : 'them'} away from the charts of Learning`
        : `See ${count === 1 ? 'it' : 'them'} behind the charts of Learning`}
    </button>
  )
}

/** What can be done to all ticked runs at once. */
function Ways({
  ids,
  all,
  said,
}: {
  readonly ids: readonly string[]
  readonly all: readonly RunEntry[]
  /** What is said of what they came to. */
  readonly said: Said | undefined
}) {
  const label = (change: Parameters<typeof labelRun>[1]) => {
    for (const id of ids) labelRun(id, change)
  }
  const hasOfStudy = all.some(({ header }) => header.study)
  return (
    <>
      <button
        type="button"
        data-testid="save-report"
        title="Numbers, means, settings and curves of these runs as Markdown with pictures, and a link to each run"
        onClick={() => void saveReport(all, said && `${said.says} ${said.more}`.trim())}
      >
        Save a report
      </button>
      <Behind count={ids.length} />
      {hasOfStudy ? null : (
        <>
          <button type="button" onClick={() => label({ pinned: true })}>
            Pin
          </button>
          <button
            type="button"
            onClick={() => {
              label({ hidden: true })
              tickOnly([])
            }}
          >
            Hide
          </button>
          <button type="button" data-testid="delete-ticked" onClick={() => void removeRuns(ids)}>
            Delete
          </button>
        </>
      )}
      <button type="button" data-testid="untick" onClick={() => tickOnly([])}>
        Untick
      </button>
    </>
  )
}

/** The panels of a run; from two ticked ones on, the runs side by side. */
export function Compare({ entries }: { readonly entries: readonly RunEntry[] }) {
  const ticked = useStore(selectionStore, selectTicked)
  const groups = useCompared(entries)
  const all = useMemo(
    () => ticked.flatMap((id) => entries.find((entry) => entry.id === id) ?? []),
    [ticked, entries],
  )
  const said = useSaid(groups)
  if (groups.length === 0) return null
  const runs = groups.flatMap((group) => group.entries)
  const placed = placedRuns(groups)
  const shown = runs.slice(0, MAX_COMPARED)
  return (
    <section className="card compare" aria-labelledby="compare-title" data-testid="compare">
      <div className="compare-head">
        <h2 id="compare-title">
          {ticked.length === 0
            ? 'The newest run'
            : `${ticked.length} ${ticked.length === 1 ? 'run' : 'runs'} ticked`}
        </h2>
        {all.length === 0 ? null : <Ways ids={all.map(({ id }) => id)} all={all} said={said} />}
      </div>
      {said === undefined ? null : (
        <>
          <p className="figure-says" data-testid="compare-says">
            {said.says}
          </p>
          {said.more === '' ? null : (
            <details className="soft" data-testid="compare-more">
              <summary>What supports this</summary>
              <p>{said.more}</p>
            </details>
          )}
        </>
      )}
      {placed < all.length ? (
        <p className="soft">
          {placed} of them are drawn: at most {MAX_COMPARED} lines can be told apart. The report
          takes up to {MAX_AVERAGED} runs.
        </p>
      ) : null}
      {runs.length > 1 ? (
        <>
          <h3>What differs</h3>
          <DifferenceTable groups={groups} />
        </>
      ) : null}
      {all.some(({ header }) => header.study) ? (
        <p className="soft" data-testid="compare-of-studies">
          Of its runs a study keeps held-out accuracies from the end of the warm start on, a few
          points of reward and entropies without smoothing, and the numbers at the end. What it does
          not keep has no line here.
        </p>
      ) : null}
      <Bands runs={all} />
      <GroupKeys groups={groups} />
      <Panels groups={groups} />
      <EntropyMaps groups={groups} />
      {runs.length > 1 ? (
        <>
          <h3>Numbers</h3>
          <KeyMetrics groups={groups} />
          <FlowFigures runs={shown} />
        </>
      ) : (
        <p className="soft">
          {ticked.length === 0
            ? 'Tick two runs or more to see them side by side.'
            : 'Tick another run to see both side by side.'}
        </p>
      )}
    </section>
  )
}
