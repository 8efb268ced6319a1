// Shows how long the steps of the shown run took, and which stages took it.
import { useMemo } from 'react'
import type { LabState } from '../../page/state/store.ts'
import { formatDuration, formatPercent } from '../kit/format.ts'
import { t } from '../kit/translator.ts'
import { BoardChart } from '../learning/more/BoardChart.tsx'
import { useMeasured } from '../learning/more/measured.ts'
import { timeCharts } from '../learning/more/more_charts.ts'
import { useSlowFrame } from '../shown/readout.ts'
import { shownStore } from '../shown/shown.ts'
import { largestStages } from './step_times.ts'

const REFRESH_MS = 1000

/** Stages that are named. */
const MOST_STAGES = 3

/** 'The median step took 2.1 s. By stage: sampling 50 %, policy learns 34 %.' */
function says({ series }: Pick<LabState, 'series'>): string | undefined {
  const found = largestStages(series)
  if (!found) return undefined
  const steps = `The median step took ${formatDuration(found.median)}.`
  const stages = found.stages.slice(0, MOST_STAGES)
  const shares = stages.map(({ name, share }) => `${t(name)} ${formatPercent(share)}`).join(', ')
  return shares === '' ? steps : `${steps} By stage: ${shares}.`
}

export function StepTimes() {
  const metrics = useMeasured()
  useSlowFrame(REFRESH_MS)
  const charts = useMemo(() => timeCharts(metrics), [metrics])
  const said = says(shownStore.getState())
  if (said === undefined) return null
  return (
    <section
      className="card step-times"
      aria-labelledby="step-times-title"
      data-testid="step-times"
    >
      <h2 id="step-times-title">Time of the steps</h2>
      <p className="figure-says">{said}</p>
      <div className="small-charts">
        {charts.map((chart) => (
          <BoardChart key={chart.id} name={chart.id} chart={chart} />
        ))}
      </div>
    </section>
  )
}
