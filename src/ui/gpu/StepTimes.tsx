// Shows how long the steps of the shown run took, and which stages took it.
import { useMemo } from 'react'
import { plannedCosts } from '../../document/experiment/costs/costs.ts'
import { formatShare } from '../kit/format.ts'
import { t } from '../kit/translator.ts'
import { BoardChart } from '../learning/more/BoardChart.tsx'
import { useMeasured } from '../learning/more/measured.ts'
import { firstSentence } from '../part/Fold.tsx'
import type { Line } from '../plot/MetricChart.tsx'
import { cssColor } from '../scales/css_colors.ts'
import { useSlowFrame } from '../shown/readout.ts'
import { shownStore, useIsPast, useLog } from '../shown/shown.ts'
import { useAdapterPeak } from './adapter_peak.ts'
import {
  againstPeak,
  largestStages,
  type StepShares,
  stepCharts,
  stepPace,
  stepTimeWords,
} from './step_times.ts'

const REFRESH_MS = 1000

/** Of a chart: its lines are many. */
const HEIGHT = 200

/** Of the time, what has a part of its own in the bar. */
const LEAST_SHARE = 0.01

/** Of all steps' time, stage by stage, in the colours of the chart below; the smallest together. */
function Shares({ found, lines }: { readonly found: StepShares; readonly lines: readonly Line[] }) {
  const colorOf = (stage: string) =>
    cssColor(lines.find(({ label }) => label === stage)?.color ?? '--soft')
  const shown = found.stages.filter(({ share }) => share >= LEAST_SHARE)
  const rest = 1 - shown.reduce((sum, { share }) => sum + share, 0)
  const all = [...shown, ...(rest >= LEAST_SHARE ? [{ name: 'all else', share: rest }] : [])]
  return (
    <>
      <div className="memory-bar" aria-hidden="true">
        {all.map(({ name, share }) => (
          <span key={name} style={{ flexGrow: share, background: colorOf(name) }} />
        ))}
      </div>
      <dl className="step-shares">
        {all.map(({ name, share }) => (
          <div key={name}>
            <dt style={{ color: colorOf(name) }}>■</dt>
            <dd>
              {t(name)} {formatShare(share)}
            </dd>
          </div>
        ))}
      </dl>
    </>
  )
}

/** Only the run of this page was measured on the GPU of that peak. */
function Reached() {
  const peak = useAdapterPeak()
  const isPast = useIsPast()
  const { series, runExperiment } = shownStore.getState()
  if (isPast || !peak || !runExperiment) return null
  const says = againstPeak(series, plannedCosts(runExperiment), peak.gflops.value)
  return says === undefined ? null : (
    <p className="soft" data-testid="against-peak">
      {says}
    </p>
  )
}

export function StepTimes() {
  const metrics = useMeasured()
  useSlowFrame(REFRESH_MS)
  const kind = useLog()?.kind
  const charts = useMemo(() => stepCharts(metrics, kind), [metrics, kind])
  const { series, gaps } = shownStore.getState()
  const found = largestStages(series)
  if (!found) return null
  const says = t(stepTimeWords(found, stepPace(gaps)))
  const first = firstSentence(says)
  return (
    <section
      className="card step-times"
      aria-labelledby="step-times-title"
      data-testid="step-times"
    >
      <h2 id="step-times-title">Time of the steps</h2>
      <p>
        <b>{first}</b>
        {says.slice(first.length)}
      </p>
      <Shares found={found} lines={charts[0].lines} />
      <Reached />
      <div className="small-charts">
        {charts.map((chart) => (
          <BoardChart key={chart.id} name={chart.id} chart={chart} height={HEIGHT} />
        ))}
      </div>
    </section>
  )
}
