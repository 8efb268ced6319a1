// A report of chosen runs: one page of Markdown and its pictures, as text. Nothing of the page is
// needed to read it.

import { encodeLink } from '../../../document/links/link.ts'
import { linesPicture, type PictureLine } from '../../../document/study/report/lines.ts'
import { markdownTable, markdownText } from '../../../formats/text_tables.ts'
import type { Series } from '../../../host/columns/series.ts'
import type { RunEntry } from '../../../page/runs/library/library.ts'
import { differences } from '../../../record/compare/compare.ts'
import { meanInterval } from '../../../record/compare/statistics.ts'
import { runName } from '../../../record/run/names.ts'
import { NONE } from '../../kit/format.ts'
import { spread } from '../../plot/files/chart_file.ts'
import { layerEntropy } from '../../shown/metrics.ts'
import { differenceText, endText, numberText, tookText } from '../../shown/run_words.ts'
import { cellOf, cellText, METRIC_CHOICES, metricOf } from '../table/columns.ts'
import { groupRuns } from '../table/groups.ts'
import { MAX_COMPARED } from '../table/selection.ts'
import type { TableView } from '../table/table.ts'

export interface ReportRun {
  readonly entry: RunEntry
  readonly columns: ReadonlyMap<string, Series>
}

type Reading = Pick<TableView, 'group' | 'statistic' | 'is_smoothed'>

/** Points of a line in a picture: more cannot be seen. */
const POINTS = 300
/** Letters of a value in a table. */
const LONGEST = 60

const METRICS = METRIC_CHOICES.map(({ key, label }) => ({
  key,
  label,
  column: `metric:${key}`,
  is_share: key !== 'entropy',
}))

const table = (heads: readonly string[], rows: readonly (readonly string[])[]): string =>
  markdownTable(
    heads.map(markdownText),
    rows.map((row) => row.map(markdownText)),
  )

/** One column as a line without a band. */
function lineOf(name: string, series: Series): PictureLine {
  const chosen = spread(series.length, POINTS).filter((i) => Number.isFinite(series.values[i]))
  const middle = chosen.map((i) => series.values[i])
  const at = chosen.map((i) => series.steps[i])
  return { name, band: { at, middle, low: middle, high: middle } }
}

/** A picture of every key metric that a run has measured, a line per run. */
function curves(runs: readonly ReportRun[]): [string, string][] {
  return METRICS.flatMap(({ key, label }) => {
    const lines = runs.flatMap(({ entry, columns }) => {
      const series = columns.get(metricOf(entry, key))
      return series && series.length > 1 ? [lineOf(runName(entry).name, series)] : []
    })
    const file = `${key}.svg`
    return lines.length === 0
      ? []
      : [[file, linesPicture(label, 'step', lines)] as [string, string]]
  })
}

/** The entropy of every layer's policy, as each run last measured it. */
function layers(runs: readonly ReportRun[]): [string, string][] {
  const lines = runs.flatMap(({ entry }): PictureLine[] => {
    const { experiment, metrics } = entry.header
    const known = Array.from(
      { length: experiment.model.num_hidden_layers + 1 },
      (_, l) => l,
    ).filter((l) => Number.isFinite(metrics[layerEntropy(l)]))
    const middle = known.map((l) => metrics[layerEntropy(l)])
    const band = { at: known, middle, low: middle, high: middle }
    return known.length < 2 ? [] : [{ name: runName(entry).name, band }]
  })
  if (lines.length === 0) return []
  const title = 'Entropy of every layer’s policy at the end, nats'
  return [['layers.svg', linesPicture(title, 'layer', lines, 340)]]
}

const numbersTable = (entries: readonly RunEntry[], reading: Reading): string =>
  table(
    ['run', 'tags', 'seed', 'ended', ...METRICS.map(({ label }) => label)],
    entries.map((entry) => [
      runName(entry).name,
      entry.labels.tags.join(', '),
      entry.header.source ? NONE : `${entry.header.experiment.seed}`,
      endText(entry.header),
      ...METRICS.map(({ column }) => cellText(cellOf(entry, column, reading), column)),
    ]),
  )

/** Means over runs that belong together; '' where every run is alone. */
function meansTable(entries: readonly RunEntry[], reading: Reading): string {
  const groups = groupRuns(entries, reading).filter((group) => group.entries.length > 1)
  if (groups.length === 0) return ''
  return table(
    ['group', 'runs', ...METRICS.map(({ label }) => label)],
    groups.map(({ label, entries }) => [
      label,
      `${entries.length}`,
      ...METRICS.map(({ column, is_share }) => {
        const values = entries.map((entry) => cellOf(entry, column, reading))
        const interval = meanInterval(values.filter((v): v is number => Number.isFinite(v)))
        if (!interval) return NONE
        const width = differenceText(interval.half_width, is_share).replace('+', '')
        return `${numberText(interval.mean, is_share)} ± ${width}`
      }),
    ]),
  )
}

/** Of the runs that have settings: an imported one holds only defaults. */
function settingsTable(all: readonly RunEntry[]): string {
  const entries = all.filter(({ header }) => !header.source)
  const note = entries.length < all.length ? 'Of imported runs no setting is known.' : ''
  if (entries.length < 2) return note
  const found = differences(entries.map(({ header }) => header.document))
  if (found.length === 0) return `Their settings are the same, seed included. ${note}`.trim()
  const told = table(
    ['setting', ...entries.map((entry) => runName(entry).name)],
    found.map(({ path, values }) => [
      path,
      ...values.map((value) => (value === undefined ? NONE : value.slice(0, LONGEST) || '(empty)')),
    ]),
  )
  return note === '' ? told : `${told}\n\n${note}`
}

/** What a person said of a run, where it ran, and how to run it again. */
function aboutRun(entry: RunEntry, address: string): string {
  const { header, labels } = entry
  const took = tookText(header)
  const where = [header.adapter, took && `took ${took}`, `version ${header.versions.understory}`]
  const lines = [
    `### ${markdownText(runName(entry).name)}`,
    labels.notes.trim().split('\n').map(markdownText).join('\n'),
    header.error ? `Error: ${markdownText(header.error.message)}` : '',
    markdownText(where.filter(Boolean).join('; ')),
    header.source ? '' : `[Run it again](${address}?${encodeLink(header.document)})`,
  ]
  return lines.filter(Boolean).join('\n\n')
}

/** The files of a report by their names. `address` is that of the page, before its query. */
export function runReport(
  runs: readonly ReportRun[],
  reading: Reading,
  address: string,
): ReadonlyMap<string, string> {
  const entries = runs.map(({ entry }) => entry)
  const drawn = runs.slice(0, MAX_COMPARED)
  const pictures = [...curves(drawn), ...layers(drawn)]
  const means = meansTable(entries, reading)
  const { statistic, is_smoothed } = reading
  const parts = [
    `# ${runs.length === 1 ? markdownText(runName(entries[0]).name) : `${runs.length} runs`}`,
    `Numbers are the ${statistic} ones of each run${is_smoothed ? ', smoothed' : ''}.`,
    numbersTable(entries, reading),
    ...(means === ''
      ? []
      : ['## Means', means, 'Mean and its 95 % interval, Student’s t over the runs of a group.']),
    ...(runs.length > 1 ? ['## Settings that differ', settingsTable(entries)] : []),
    '## Curves',
    ...(runs.length > drawn.length ? [`Of the first ${drawn.length} runs.`] : []),
    ...(pictures.length === 0 ? ['None of the runs has measured two steps.'] : []),
    ...pictures.map(([file]) => `![${file.replace('.svg', '')}](${file})`),
    '## Runs',
    ...entries.map((entry) => aboutRun(entry, address)),
  ]
  return new Map([['report.md', `${parts.join('\n\n')}\n`], ...pictures])
}
