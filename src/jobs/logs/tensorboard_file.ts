// The metrics of a run as a TensorBoard event file.

import { scalarsRecord, versionRecord } from '../../formats/tensorboard.ts'
import type { MetricColumns } from '../../record/files/metrics_file.ts'

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
  const rows = new Map<number, Record<string, number>>()
  for (const [name, { steps, values, length }] of series)
    for (let i = 0; i < length; i++) {
      const row = rows.get(steps[i]) ?? {}
      row[name] = values[i]
      rows.set(steps[i], row)
    }
  for (const [step, metrics] of [...rows].sort(([a], [b]) => a - b))
    yield scalarsRecord(writtenAt, step, metrics)
}
