// Makes every metric of a run a chart of its own, for what no chart of the lists draws, and the
// charts that a search finds.

import { searchable } from '../../kit/fuzzy.ts'
import { line, type MoreChart } from './chart_entry.ts'
import type { ChartGroup } from './more_charts.ts'

/** The chart of one metric. */
export const metricChart = (metric: string): MoreChart => ({
  id: `metric-${metric.replaceAll(/[^\w]+/g, '-')}`,
  title: metric.slice(metric.indexOf('/') + 1).replaceAll('_', ' '),
  note: metric,
  lines: [line(metric, metric)],
})

/** Metrics that no chart of the lists draws, by the part of their name before the first '/'. */
export function otherMetrics(
  metrics: readonly string[],
  groups: readonly ChartGroup[],
): readonly (readonly [prefix: string, metrics: readonly string[]])[] {
  const drawn = new Set(
    groups.flatMap(({ charts }) => charts.flatMap(({ lines }) => lines.map((own) => own.metric))),
  )
  const found = new Map<string, string[]>()
  for (const metric of [...metrics].sort()) {
    if (drawn.has(metric)) continue
    const prefix = metric.includes('/') ? metric.slice(0, metric.indexOf('/')) : 'other'
    found.set(prefix, [...(found.get(prefix) ?? []), metric])
  }
  return [...found]
}

/** What stands on the board: a chart of the lists, or a metric. */
export function boardChart(name: string, groups: readonly ChartGroup[]): MoreChart {
  const charts = groups.flatMap(({ charts }) => charts)
  return charts.find(({ id }) => id === name) ?? metricChart(name)
}

/** Whether every word of a query is in a chart's title, note, or the names of its lines. */
export function isFoundBy(query: string, { title, note, lines }: MoreChart): boolean {
  const names = lines.flatMap(({ metric, label }) => [metric, label ?? ''])
  const text = searchable([title, note ?? '', ...names]).replaceAll('_', ' ')
  const words = query.toLowerCase().replaceAll('_', ' ').split(/\s+/)
  return words.every((word) => text.includes(word))
}
