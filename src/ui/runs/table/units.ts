// Gives each column of the table one unit: percentages where each of its numbers is a share of 1.
import type { RunEntry } from '../../../page/runs/library/library_store.ts'
import { isMetric, isShare, metricOf } from '../base/columns.ts'

const choiceOf = (column: string): string => column.slice(column.indexOf(':') + 1)

/** Whether some numbers of a column are known to be shares, but not all, so that none is written as
 * a percentage. */
export const isMixed = (column: string, entries: readonly RunEntry[]): boolean => {
  const choice = choiceOf(column)
  if (!isMetric(column) || isShare(choice, entries)) return false
  return entries.some(
    (entry) => metricOf(entry, choice) in entry.header.summaries && isShare(choice, [entry]),
  )
}

/** Those of the columns whose numbers are all shares, a line each. */
export const shareColumns = (columns: readonly string[], entries: readonly RunEntry[]): string =>
  columns.filter((column) => isMetric(column) && isShare(choiceOf(column), entries)).join('\n')
