// Columns, groups and filters of the table of runs, kept in this browser between visits.
import * as z from 'zod/mini'
import { OPERATORS } from './filters.ts'
import type { TableView } from './table.ts'

const STORAGE_KEY = 'understory.runs_table'
const MOST = 40
const name = z.string().check(z.maxLength(200))

const viewSchema = z.object({
  metric: name,
  columns: z.array(name).check(z.maxLength(MOST)),
  group: name,
  filters: z
    .array(z.object({ column: name, operator: z.enum(OPERATORS), value: name }))
    .check(z.maxLength(MOST)),
})

/** What was chosen on an earlier visit; nothing where storage is off or holds something else. */
export function rememberedView(): Partial<TableView> {
  try {
    const read = viewSchema.safeParse(JSON.parse(localStorage.getItem(STORAGE_KEY) ?? 'null'))
    return read.success ? read.data : {}
  } catch {
    return {}
  }
}

export function rememberView({ metric, columns, group, filters }: TableView): void {
  try {
    localStorage.setItem(STORAGE_KEY, JSON.stringify({ metric, columns, group, filters }))
  } catch {
    // Storage is off: the choice lasts as long as the page.
  }
}
