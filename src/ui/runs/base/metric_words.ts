// Says in words what the trainer calls a metric.
import { isMetric } from './columns.ts'

/** What a metric of the trainer is in words: 'critic/advantages/max' is 'advantages (largest)'. */
export function metricWords(column: string): string {
  if (!isMetric(column)) return ''
  const metric = column.slice(column.indexOf(':') + 1).replaceAll('_', ' ')
  const [, prefix, own] = /^([^/]+)\/(.+)$/.exec(metric) ?? []
  if (own === undefined) return ''
  const [, of = prefix, end] = /^(?:(.+)\/)?(min|max|mean|clip ratio)$/.exec(own) ?? []
  // Lengths alone have such a ratio: that of what was cut off.
  if (end === 'clip ratio') return `${of} (share cut off)`
  if (end === 'mean') return `${of} (mean)`
  if (end === undefined) return own.replaceAll('/', ' ')
  return end === 'min' ? `${of} (smallest)` : `${of} (largest)`
}
