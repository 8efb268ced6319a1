// Makes what charts draw of the sender's result behind the run's.
import type { Experiment } from '../../document/experiment/schema/schema.ts'
import { metricOf, type SharedResult } from '../../document/links/shared_result.ts'
import { mainMetric } from '../shown/measure/main_measure.ts'
import { type Overlay, SENDER_ID } from '../shown/overlays.ts'

/** On light and on dark panels 3 : 1 or more. */
const COLOR = '#7d847c'

/** The sender's curves, by the metrics of the experiment that their link holds. */
export function overlayOf({ lines }: SharedResult, of: Experiment): Overlay {
  const columns = new Map(
    lines.map(({ name, steps, values }) => [
      metricOf(name, of.task.id, mainMetric(of)),
      { steps, values, length: steps.length },
    ]),
  )
  const last = Math.max(0, ...lines.map(({ steps }) => steps[steps.length - 1] ?? 0))
  return {
    id: SENDER_ID,
    label: 'sender’s result',
    color: COLOR,
    dash: [2, 3],
    end: () => ({ last, planned: last }),
    series: (metric) => columns.get(metric),
  }
}
