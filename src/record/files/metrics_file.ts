// Writes a run's metrics as files: JSON lines as verl's file logger writes them, and a table.

import { csvTable } from '../../formats/text_tables.ts'
import type { Series } from '../../host/columns/series.ts'

/** Columns of (step, value) by metric, steps growing. */
export type MetricColumns = ReadonlyMap<string, Pick<Series, 'steps' | 'values' | 'length'>>

/** What every step reported, in the order of the steps; metrics in the order of the columns. */
export function metricRows(
  series: MetricColumns,
): (readonly [step: number, metrics: Readonly<Record<string, number>>])[] {
  const rows = new Map<number, Record<string, number>>()
  for (const [name, { steps, values, length }] of series)
    for (let i = 0; i < length; i++) {
      const row = rows.get(steps[i]) ?? {}
      row[name] = values[i]
      rows.set(steps[i], row)
    }
  return [...rows].sort(([a], [b]) => a - b)
}

/** One line per step, {"step": 1, "data": {…}}, with verl's metric names; what is not finite is
 * null. */
export const metricsJsonl = (series: MetricColumns): string =>
  metricRows(series)
    .map(([step, data]) => `${JSON.stringify({ step, data })}\n`)
    .join('')

/** A table: `step`, then a column per metric; what a step did not report is empty, NaN is NaN.
 * Nothing for no steps. */
export function metricsCsv(series: MetricColumns): string {
  const names = [...series.keys()]
  if (names.length === 0) return ''
  const rows = metricRows(series).map(([step, metrics]) => [
    step,
    ...names.map((name) => metrics[name]),
  ])
  return csvTable([['step', ...names], ...rows])
}
