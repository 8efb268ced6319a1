// Writes the numbers of one chart as text: as files, and as a table on the page.
import { type MetricColumns, metricsCsv, metricsJsonl } from '../../../record/files/metrics_file.ts'
import { formatCount, NONE } from '../../kit/format.ts'
import { type Columns, indexAt, lowerBound } from '../../scales/columns.ts'
import type { Domain } from '../../scales/domain.ts'
import type { NumberTable } from './number_table.ts'

/** One line, by the name that files give it. */
export interface NamedColumns {
  readonly name: string
  /** What the chart calls it. */
  readonly label?: string
  readonly columns: Columns
}

/** The entries whose steps lie in `x`, ends included. */
function within({ steps, values, length }: Columns, x: Domain) {
  const from = lowerBound({ steps, length }, x[0])
  const end = indexAt({ steps, values, length }, x[1]) + 1
  const cut = (column: ArrayLike<number>) =>
    Float64Array.from({ length: Math.max(0, end - from) }, (_, i) => column[from + i])
  return { steps: cut(steps), values: cut(values), length: Math.max(0, end - from) }
}

/** Lines as the files of a whole run hold them, the shown steps alone. A name that comes twice is
 * numbered. */
function chartColumns(lines: readonly NamedColumns[], x: Domain): MetricColumns {
  const result = new Map<string, ReturnType<typeof within>>()
  for (const { name, columns } of lines) {
    let own = name
    for (let n = 2; result.has(own); n++) own = `${name} (${n})`
    result.set(own, within(columns, x))
  }
  return result
}

export const chartCsv = (lines: readonly NamedColumns[], x: Domain): string =>
  metricsCsv(chartColumns(lines, x))

export const chartJsonl = (lines: readonly NamedColumns[], x: Domain): string =>
  metricsJsonl(chartColumns(lines, x))

/** Up to `count` indices of `length` entries, evenly spread, the first and the last among them. */
export function spread(length: number, count: number): number[] {
  if (length <= count) return Array.from({ length }, (_, i) => i)
  return Array.from({ length: count }, (_, i) => Math.round((i * (length - 1)) / (count - 1)))
}

interface StepRows {
  /** Newest step first; a cell is undefined where the line has no entry at the step or was thinned
   * there. */
  readonly rows: readonly {
    readonly step: number
    readonly values: readonly (number | undefined)[]
  }[]
  /** Entries that were left out, of all lines together. */
  readonly leftOut: number
}

/** Up to `count` values of each line, spread over the shown steps. */
function stepRows(lines: readonly Columns[], x: Domain, count: number): StepRows {
  const rows = new Map<number, (number | undefined)[]>()
  let leftOut = 0
  lines.forEach((columns, line) => {
    const { steps, values, length } = within(columns, x)
    const chosen = spread(length, count)
    leftOut += length - chosen.length
    for (const index of chosen) {
      const row = rows.get(steps[index]) ?? lines.map(() => undefined)
      row[line] = values[index]
      rows.set(steps[index], row)
    }
  })
  return {
    rows: [...rows].sort(([a], [b]) => b - a).map(([step, values]) => ({ step, values })),
    leftOut,
  }
}

/** Most values of each line. */
const MAX_VALUES = 50

/** The shown steps of lines as a table on the page. */
export function stepTable(
  lines: readonly NamedColumns[],
  x: Domain,
  formatValue: (value: number | undefined) => string,
  count = MAX_VALUES,
): NumberTable {
  const { rows, leftOut } = stepRows(
    lines.map(({ columns }) => columns),
    x,
    count,
  )
  return {
    columns: ['step', ...lines.map(({ name, label = name }) => label)],
    keys: ['step', ...lines.map(({ name }) => name)],
    rows: rows.map(({ step, values }) => [
      `${step}`,
      ...values.map((value) => (value === undefined ? NONE : formatValue(value))),
    ]),
    note:
      leftOut === 0
        ? 'Every value of the steps shown, newest first.'
        : `Up to ${count} values of each line, spread over the steps shown, newest first; ${formatCount(leftOut)} more are in the CSV file.`,
  }
}
