// Cuts runs to the steps that all of them took, so that a longer one does not win by its length.
import type { Series } from '../../../host/columns/series.ts'
import { extendSummary } from '../../../record/run/summary.ts'
import type { Compared } from '../base/compared.ts'

type Columns = ReadonlyMap<string, Series>
/** What was read of a run, by its id. */
export type ColumnsOf = (id: string) => Columns | undefined
type Entry = Compared['entries'][number]

/** A run as it was after `step` steps. */
function entryAt(entry: Entry, columns: Columns, step: number): Entry {
  const found = [...columns].flatMap(([metric, column]) => {
    const end = column.after(step)
    return end > 0 ? [[metric, extendSummary(undefined, column.values, 0, end)]] : []
  })
  return { ...entry, header: { ...entry.header, step, summaries: Object.fromEntries(found) } }
}

interface CommonSteps {
  readonly groups: readonly Compared[]
  /** As many as the shortest run took. */
  readonly step: number
}

/** The lines over the steps that all their runs took; undefined where all took as many, or while a
 * longer one is read. */
export function overCommonSteps(
  groups: readonly Compared[],
  columnsOf: ColumnsOf,
): CommonSteps | undefined {
  const steps = groups.flatMap(({ entries }) => entries.map(({ header }) => header.step))
  const step = Math.min(...steps)
  if (step === Math.max(...steps)) return undefined
  const cut: Compared[] = []
  for (const group of groups) {
    const entries: Entry[] = []
    for (const entry of group.entries) {
      const columns = columnsOf(entry.id)
      if (entry.header.step > step && !columns) return undefined
      entries.push(entry.header.step > step && columns ? entryAt(entry, columns, step) : entry)
    }
    cut.push({ ...group, entries })
  }
  return { groups: cut, step }
}
