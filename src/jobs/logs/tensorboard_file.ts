// Writes the metrics of a run as a TensorBoard event file.

import { scalarsRecord, versionRecord } from '../../formats/tensorboard/tensorboard.ts'
import { type MetricColumns, metricRows } from '../../record/files/metrics_file.ts'

/** Its name as TensorBoard looks for it; `writtenAt` in seconds since 1970. */
export const eventFileName = (writtenAt: number): string =>
  `events.out.tfevents.${Math.floor(writtenAt)}.understory`

/** The records of such a file, a step each, steps growing. Every record has the same time: a log
 * does not say when it was written. */
export function* eventRecords(
  series: MetricColumns,
  writtenAt: number,
): Generator<Uint8Array<ArrayBuffer>> {
  yield versionRecord(writtenAt)
  for (const [step, metrics] of metricRows(series)) yield scalarsRecord(writtenAt, step, metrics)
}
