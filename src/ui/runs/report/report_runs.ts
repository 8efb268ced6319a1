// Holds what all parts of a report are made from: the runs, how they are read, and the metrics that
// it tells.
import { markdownTable, markdownText } from '../../../formats/text_tables.ts'
import type { Series } from '../../../host/columns/series.ts'
import type { RunEntry } from '../../../page/runs/library/library_store.ts'
import { runName } from '../../../record/run/names.ts'
import { t } from '../../kit/translator.ts'
import type { DistinctName } from '../../shown/names/distinct_names.ts'
import { choiceLabel, keysAmong } from '../base/choices.ts'
import type { Selection } from '../base/selection.ts'
import type { TableView } from '../base/table.ts'

export interface ReportRun {
  readonly entry: RunEntry
  readonly columns: ReadonlyMap<string, Series>
}

export type Reading = Pick<TableView, 'group' | 'statistic' | 'isSmoothed'> &
  Pick<Selection, 'band'> & {
    /** What the page says above these runs. */
    readonly said: string | undefined
    /** What the table and figures call them, by id. */
    readonly names: ReadonlyMap<string, DistinctName>
  }

/** A run that is called as the page calls it. */
export function withName(run: ReportRun, { names }: Reading): ReportRun {
  const { entry } = run
  const name = names.get(entry.id)?.name ?? runName(entry).name
  return { ...run, entry: { ...entry, labels: { ...entry.labels, name: t(name) } } }
}

/** The metrics that these runs have in common. */
export const metricsOf = (entries: readonly RunEntry[]) =>
  keysAmong(entries).map((key) => ({ key, column: `metric:${key}` }))

/** What the metrics are called for these runs. */
export const metricLabels = (entries: readonly RunEntry[]): readonly string[] =>
  keysAmong(entries).map((key) => choiceLabel(key, entries))

/** A table of Markdown whose cells are texts. */
export const table = (heads: readonly string[], rows: readonly (readonly string[])[]): string =>
  markdownTable(
    heads.map(markdownText),
    rows.map((row) => row.map(markdownText)),
  )
