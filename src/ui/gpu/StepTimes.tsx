// Shows how long the steps of the shown run took, and which stages took it.
import { useMemo } from 'react'
import { runColor } from '../../record/run/record.ts'
import { formatPercent } from '../kit/format.ts'
import { t } from '../kit/translator.ts'
import { BoardChart } from '../learning/more/BoardChart.tsx'
import { useMeasured } from '../learning/more/measured.ts'
import { timeCharts } from '../learning/more/more_charts.ts'
import { useSlowFrame } from '../shown/readout.ts'
import { shownStore } from '../shown/shown.ts'
import { largestStages, type StepShares, stepTimeWords } from './step_times.ts'

const REFRESH_MS = 1000

/** Of the time, what has a part of its own in the bar. */
const LEAST_SHARE = 0.01

/** Of all steps' time, stage by stage; the smallest together. */
function Shares({ found }: { readonly found: StepShares }) {
  const shown = found.stages.filter(({ share }) => share >= LEAST_SHARE)
  const rest = 1 - shown.reduce((sum, { share }) => sum + share, 0)
  const all = [...shown, ...(rest >= LEAST_SHARE ? [{ name: 'all else', share: rest }] : [])]
  return (
    <>
      <div className="memory-bar" aria-hidden="true">
        {all.map(({ name, share }, i) => (
          <span key={name} style={{ flexGrow: share, background: runColor(i).color }} />
        ))}
      </div>
      <dl className="step-shares">
        {all.map(({ name, share }, i) => (
          <div key={name}>
            <dt style={{ color: runColor(i).color }}>■</dt>
            <dd>
              {t(name)} {formatPercent(share)}
            </dd>
          </div>
        ))}
      </dl>
    </>
  )
}

export function StepTimes() {
  const metrics = useMeasured()
  useSlowFrame(REFRESH_MS)
  const charts = useMemo(() => timeCharts(metrics), [metrics])
  const found = largestStages(shownStore.getState().series)
  if (!found) return null
  return (
    <section
      className="card step-times"
      aria-labelledby="step-times-title"
      data-testid="step-times"
    >
      <h2 id="step-times-title">Time of the steps</h2>
      <p className="figure-says">{stepTimeWords(found)}</p>
      <Shares found={found} />
      <div className="small-charts">
        {charts.map((chart) => (
          <BoardChart key={chart.id} name={chart.id} chart={chart} />
        ))}
      </div>
    </section>
  )
}
