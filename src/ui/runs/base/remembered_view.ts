// Keeps columns, groups, filters and ticks of the table of runs in this browser between visits.
import * as z from 'zod/mini'
import { remembered } from '../../../page/state/remembered.ts'
import { OPERATORS } from './filters.ts'
import type { TableView } from './table.ts'

const MOST = 40
const name = z.string().check(z.maxLength(200))

const viewSchema = z.object({
  metric: name,
  columns: z.array(name).check(z.maxLength(MOST)),
  // Absent in what an earlier version kept.
  without: z.optional(z.array(name).check(z.maxLength(MOST))),
  // Absent in what an earlier version kept.
  with_studies: z.optional(z.boolean()),
  group: name,
  filters: z
    .array(
      z.object({
        column: name,
        operator: z.enum(OPERATORS.map(({ operator }) => operator)),
        value: name,
      }),
    )
    .check(z.maxLength(MOST)),
})

const keptTicks = remembered('runs_ticked', z.array(name).check(z.maxLength(MOST)), [])

/** The runs that were ticked on an earlier visit, some of which may be gone. */
export const rememberedTicks = (): readonly string[] => keptTicks.get()

export const rememberTicks = (ids: readonly string[]): void => keptTicks.set(ids.slice(0, MOST))

const kept = remembered('runs_table', z.optional(viewSchema), undefined)

/** What was chosen on an earlier visit. */
export function rememberedView(): Partial<TableView> {
  const { without = [], with_studies: withStudies = false, ...view } = kept.get() ?? {}
  return { ...view, without, withStudies }
}

export const rememberView = (view: TableView): void => {
  const { metric, columns, without, withStudies, group, filters } = view
  kept.set({
    metric,
    columns: [...columns],
    without: [...without],
    with_studies: withStudies,
    group,
    filters: [...filters],
  })
}
