// Draws further charts, only while they are open: a run has many metrics, and most people
// want few of them. Any of them can be found by its name, and pinned to a board above.
import { useMemo, useState } from 'react'
import { useStore } from 'zustand'
import { useOpenedEntry } from '../../open/opened_run.ts'
import { boardStore } from '../../shown/board.ts'
import { foreignHeldOut, LOGGED_ENTROPY, layerEntropy, REWARD } from '../../shown/metrics.ts'
import { type UiState, uiStore } from '../../shown/store.ts'
import { BoardChart } from './BoardChart.tsx'
import type { MoreChart } from './chart_entry.ts'
import { boardChart, isFoundBy, metricChart, otherMetrics } from './every_metric.ts'
import { chartOfLog } from './log_notes.ts'
import { useMeasured } from './measured.ts'
import { type ChartGroup, moreCharts } from './more_charts.ts'

const selectIsDark = (state: UiState) => state.isDark
const selectPinned = ({ pinned }: { readonly pinned: readonly string[] }) => pinned
/** Charts that a search shows; more would cost a second to draw. */
const MOST_FOUND = 24

interface Shown {
  readonly name: string
  readonly chart: MoreChart
}

const Grid = ({ shown }: { readonly shown: readonly Shown[] }) => (
  <div className="small-charts">
    {shown.map(({ name, chart }) => (
      <BoardChart key={name} name={name} chart={chart} />
    ))}
  </div>
)

const ofLists = (charts: readonly MoreChart[]): Shown[] =>
  charts.map((chart) => ({ name: chart.id, chart }))
const ofMetrics = (metrics: readonly string[]): Shown[] =>
  metrics.map((metric) => ({ name: metric, chart: metricChart(metric) }))

/** Metrics without a chart of the lists, under one prefix; drawn while they are open. */
function Others({ prefix, shown }: { readonly prefix: string; readonly shown: readonly Shown[] }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)} data-testid={`more-${prefix}`}>
      <summary>
        <span translate="no">{prefix}</span> <span className="soft">{shown.length}</span>
      </summary>
      {isOpen ? <Grid shown={shown} /> : null}
    </details>
  )
}

/** What is open: the charts of the lists, then every other metric; with a query what it finds among
 * all. */
function Open(props: {
  readonly groups: readonly ChartGroup[]
  readonly metrics: readonly string[]
}) {
  const { groups, metrics } = props
  const [query, setQuery] = useState('')
  const pinned = useStore(boardStore, selectPinned)
  const isFree = ({ name }: Shown) => !pinned.includes(name)
  const others = otherMetrics(metrics, groups)
  const all = [
    ...ofLists(groups.flatMap(({ charts }) => charts)),
    ...ofMetrics(others.flatMap(([, own]) => own)),
  ]
  const found = all.filter((one) => isFree(one) && isFoundBy(query, one.chart))
  return (
    <>
      <input
        type="text"
        className="more-search"
        data-testid="more-search"
        aria-label="Search charts and metrics"
        placeholder={
          metrics.length === 1 ? 'Search one metric' : `Search ${metrics.length} metrics`
        }
        value={query}
        onChange={({ target }) => setQuery(target.value)}
      />
      {query.trim() === '' ? (
        <>
          {groups.map(({ name, charts }) => (
            <section key={name} aria-label={name}>
              <h2>{name}</h2>
              <Grid shown={ofLists(charts).filter(isFree)} />
            </section>
          ))}
          <section aria-label="Every other metric">
            <h2>Every other metric</h2>
            {others.map(([prefix, own]) => (
              <Others key={prefix} prefix={prefix} shown={ofMetrics(own).filter(isFree)} />
            ))}
          </section>
        </>
      ) : (
        <section aria-label="Found">
          <p className="soft" role="status">
            {found.length === 0 ? 'No metric of this run is called so.' : `${found.length} found`}
            {found.length > MOST_FOUND ? `, of which ${MOST_FOUND} are shown` : ''}
          </p>
          <Grid shown={found.slice(0, MOST_FOUND)} />
        </section>
      )}
    </>
  )
}

const countWords = (count: number): string =>
  count === 0 ? '' : count === 1 ? `${count} metric` : `${count} metrics`

/** Whether a log has something for each chart above. */
const hasMain = (metrics: readonly string[]): boolean =>
  (metrics.includes(REWARD) || foreignHeldOut(metrics).length > 0) &&
  (metrics.includes(LOGGED_ENTROPY) || metrics.includes(layerEntropy(0)))

export function MoreCharts() {
  // Unset until it is turned: an element that begins open may tell that before React listens.
  const [turned, setTurned] = useState<boolean>()
  const isDark = useStore(uiStore, selectIsDark)
  const pinned = useStore(boardStore, selectPinned)
  const metrics = useMeasured()
  const kind = useOpenedEntry()?.header.source?.kind
  const isOpened = kind !== undefined && !hasMain(metrics)
  const groups = useMemo(() => {
    const all = moreCharts(metrics, isDark)
    if (kind === undefined) return all
    return all.map((group) => ({
      ...group,
      charts: group.charts.map((chart) => chartOfLog(chart, kind, metrics)),
    }))
  }, [metrics, isDark, kind])
  return (
    <>
      {pinned.length === 0 ? null : (
        <section className="board" aria-label="Board" data-testid="board">
          <h2>Board</h2>
          <Grid shown={pinned.map((name) => ({ name, chart: boardChart(name, groups) }))} />
        </section>
      )}
      <details
        className="more-charts"
        data-testid="more-charts"
        open={isOpened}
        onToggle={(event) => setTurned(event.currentTarget.open)}
      >
        <summary>
          More charts <span className="soft">{countWords(metrics.length)}</span>
        </summary>
        {metrics.length === 0 ? (
          <p className="soft">
            Nothing is measured yet. Losses, KL, advantages, returns, the critic’s values, best of n
            and the time of each stage appear here, as far as the run measures them.
          </p>
        ) : null}
        {(turned ?? isOpened) && metrics.length > 0 ? (
          <Open groups={groups} metrics={metrics} />
        ) : null}
      </details>
    </>
  )
}
