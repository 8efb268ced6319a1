// Further charts, drawn only while they are open: a run has many metrics, and most people want few of them.
import { useMemo, useState } from 'react'
import { useStore } from 'zustand'
import type { LabState } from '../../../lab/page/store.ts'
import { formatNumber, formatPercent, formatShare, formatTick } from '../../base/format.ts'
import { useShownFrame } from '../../base/shown.ts'
import { type UiState, uiStore } from '../../base/store.ts'
import { MetricChart } from '../../plot/MetricChart.tsx'
import type { MoreChart } from './chart_entry.ts'
import { moreCharts } from './more_charts.ts'

const HEIGHT = 128
const SHARE = [0, 1] as const
const selectIsDark = (state: UiState) => state.is_dark

let known: { series: LabState['series']; size: number; names: string } | undefined

/** The names of what was measured so far, one a line: the same text until there is another one. */
function measuredNames({ series }: LabState): string {
  if (known?.series !== series || known.size !== series.size)
    known = { series, size: series.size, names: [...series.keys()].join('\n') }
  return known.names
}

function Chart({ chart }: { chart: MoreChart }) {
  const { id, title, note, lines, format, is_share = false, ideal } = chart
  return (
    <MetricChart
      id={`${id}-chart`}
      title={title}
      note={note}
      lines={lines}
      height={HEIGHT}
      {...(is_share ? { y: SHARE } : {})}
      {...(ideal ? { ideal } : {})}
      formatY={format === formatShare ? formatPercent : formatTick}
      formatValue={format ?? formatNumber}
      compact
      has_legend={lines.length > 1}
    />
  )
}

export function MoreCharts() {
  const [is_open, setOpen] = useState(false)
  const is_dark = useStore(uiStore, selectIsDark)
  const names = useShownFrame(measuredNames)
  const groups = useMemo(
    () => moreCharts(names === '' ? [] : names.split('\n'), is_dark),
    [names, is_dark],
  )
  const count = groups.reduce((sum, { charts }) => sum + charts.length, 0)
  return (
    <details
      className="more-charts"
      data-testid="more-charts"
      onToggle={(event) => setOpen(event.currentTarget.open)}
    >
      <summary>
        More charts <span className="soft">{count === 0 ? '' : count}</span>
      </summary>
      {count === 0 ? (
        <p className="soft">
          Nothing is measured yet. Losses, KL, advantages, returns, the critic’s values, best of n
          and the time of each stage appear here, as far as the run measures them.
        </p>
      ) : null}
      {is_open
        ? groups.map(({ name, charts }) => (
            <section key={name} aria-label={name}>
              <h2>{name}</h2>
              <div className="small-charts">
                {charts.map((chart) => (
                  <div key={chart.id} className={chart.is_wide ? 'wide' : ''}>
                    <Chart chart={chart} />
                  </div>
                ))}
              </div>
            </section>
          ))
        : null}
    </details>
  )
}
