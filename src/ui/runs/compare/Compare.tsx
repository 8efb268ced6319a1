// The ticked runs side by side.
import { useMemo } from 'react'
import { useStore } from 'zustand'
import { labelRun, type RunEntry } from '../../../page/runs/library/library.ts'
import { differences } from '../../../record/compare/compare.ts'
import { CutName } from '../../kit/CutName.tsx'
import { NONE } from '../../kit/format.ts'
import { removeRuns } from '../../open/opened_run.ts'
import { LineMark } from '../../plot/Keys.tsx'
import { type Overlay, overlayStore } from '../../shown/overlays.ts'
import { openTab } from '../../shown/store.ts'
import { MarkedName } from '../RunMark.tsx'
import { saveReport } from '../report/save_report.ts'
import { columnLabel } from '../table/columns.ts'
import { BY_SETTINGS, groupRuns } from '../table/groups.ts'
import {
  MAX_AVERAGED,
  MAX_COMPARED,
  type Selection,
  selectionStore,
  tickOnly,
} from '../table/selection.ts'
import { tickedRuns } from './compared.ts'
import { FlowFigures } from './FlowFigures.tsx'
import { KeyMetrics } from './KeyMetrics.tsx'

const selectBand = ({ band }: Selection) => band
const selectView = ({ view }: Selection) => view
const selectTicked = ({ ticked }: Selection) => ticked

/** The ticked runs that are there, the baseline first. */
function useCompared(entries: readonly RunEntry[]): readonly RunEntry[] {
  const ticked = useStore(selectionStore, selectTicked)
  return useMemo(
    () =>
      tickedRuns(ticked, entries).sort(
        (a, b) => Number(b.labels.baseline) - Number(a.labels.baseline),
      ),
    [ticked, entries],
  )
}

const BANDS = [
  { band: undefined, label: 'a line each' },
  { band: 't95', label: 'mean and its 95 % interval (Student’s t, cut where the measure ends)' },
  { band: 'range', label: 'mean, lowest and highest' },
] as const

/** How runs that belong together are drawn: by the table's groups, else those that differ only in
 * the seed. */
function Bands({ runs }: { readonly runs: readonly RunEntry[] }) {
  const band = useStore(selectionStore, selectBand)
  const view = useStore(selectionStore, selectView)
  const groups = groupRuns(runs, view)
  const largest = Math.max(0, ...groups.map(({ entries }) => entries.length))
  if (largest < 2) return null
  const by = view.group === '' || view.group === BY_SETTINGS ? '' : columnLabel(view.group)
  return (
    <fieldset className="runs-seeds">
      <legend>
        {by === '' ? 'Runs that differ only in the seed' : `Runs of one group (${by})`}, on the
        charts
      </legend>
      {BANDS.map((choice) => (
        <label key={choice.label}>
          <input
            type="radio"
            name="runs-band"
            checked={band === choice.band}
            onChange={() => selectionStore.setState({ band: choice.band })}
          />
          {choice.label}
        </label>
      ))}
      <p className="soft">
        Means are taken at the steps that all runs of a group have measured, over at most{' '}
        {MAX_AVERAGED} ticked runs. The table’s <i>Group by</i> decides which belong together.
      </p>
    </fieldset>
  )
}

/** Long texts, such as pinned kernels, are of interest only in that they differ. */
const short = (text: string) => (text.length > 60 ? `${text.slice(0, 60)}…` : text)

function DifferenceTable({ runs }: { readonly runs: readonly RunEntry[] }) {
  const found = useMemo(() => differences(runs.map(({ header }) => header.document)), [runs])
  if (found.length === 0)
    return <p className="soft">Their experiments are the same, seed included.</p>
  return (
    <div className="scroll" tabIndex={0} role="group" aria-label="Differences of the experiments">
      <table className="compare-table" data-testid="differences">
        <thead>
          <tr>
            <th scope="col">field</th>
            {runs.map((entry) => (
              <th key={entry.id} scope="col">
                <MarkedName entry={entry} />
                {entry.labels.baseline ? <small className="soft"> baseline</small> : null}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {found.map(({ path, values }) => (
            <tr key={path}>
              <th scope="row">
                <code>{path}</code>
              </th>
              {values.map((value, i) => (
                <td key={runs[i].id} className={value === values[0] ? '' : 'differs'} title={value}>
                  {value === undefined ? NONE : short(value) || '(empty)'}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

const selectOverlays = ({ overlays }: { readonly overlays: readonly Overlay[] }) => overlays

/** Which lines the charts draw behind the shown run. */
function OnCharts() {
  const overlays = useStore(overlayStore, selectOverlays)
  if (overlays.length === 0)
    return (
      <p className="soft">
        The charts show this run in full; other ticked runs are drawn faintly behind it.
      </p>
    )
  return (
    <ul className="compare-lines" data-testid="overlays">
      <li className="soft">Faint on the charts, behind the run that is shown:</li>
      {overlays.map(({ id, label, color, dash }) => (
        <li key={id}>
          <LineMark color={color} dash={dash} /> <CutName name={label} />
        </li>
      ))}
    </ul>
  )
}

/** What to do with all ticked runs at once; and from two on, the runs side by side. */
export function Compare({ entries }: { readonly entries: readonly RunEntry[] }) {
  const ticked = useStore(selectionStore, selectTicked)
  const runs = useCompared(entries)
  const all = useMemo(
    () => ticked.flatMap((id) => entries.find((entry) => entry.id === id) ?? []),
    [ticked, entries],
  )
  if (runs.length === 0) return null
  return (
    <section className="card compare" aria-labelledby="compare-title" data-testid="compare">
      <div className="compare-head">
        <h2 id="compare-title">
          {ticked.length} {ticked.length === 1 ? 'run' : 'runs'} ticked
        </h2>
        <button type="button" data-testid="see-overlays" onClick={() => openTab('learn')}>
          See {runs.length === 1 ? 'it' : 'them'} on the charts
        </button>
        <button
          type="button"
          onClick={() => {
            for (const { id } of runs) labelRun(id, { pinned: true })
          }}
        >
          Pin
        </button>
        <button
          type="button"
          onClick={() => {
            for (const { id } of runs) labelRun(id, { hidden: true })
            tickOnly([])
          }}
        >
          Hide
        </button>
        <button
          type="button"
          data-testid="save-report"
          title="Numbers, means, settings and curves of these runs as Markdown with pictures"
          onClick={() => void saveReport(all)}
        >
          Report
        </button>
        <button type="button" data-testid="delete-ticked" onClick={() => void removeRuns(ticked)}>
          Delete
        </button>
        <button type="button" data-testid="untick" onClick={() => tickOnly([])}>
          Untick
        </button>
      </div>
      {ticked.length > MAX_COMPARED ? (
        <p className="soft">
          The first {MAX_COMPARED} are compared; more lines on a chart cannot be told apart. Means
          of groups and the report take more.
        </p>
      ) : null}
      <OnCharts />
      {runs.length > 1 ? (
        <>
          <Bands runs={all} />
          <h3>Numbers</h3>
          <KeyMetrics runs={runs} />
          <h3>Differences of their experiments</h3>
          <DifferenceTable runs={runs} />
          <h3>What each block does to the entropy</h3>
          <FlowFigures runs={runs} />
        </>
      ) : (
        <p className="soft">Tick another run to see both side by side.</p>
      )}
    </section>
  )
}
