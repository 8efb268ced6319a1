// Writes a report of chosen runs: one page of Markdown and its pictures, as text. Nothing of the
// page is needed to read it.

import { settingValue } from '../../../document/experiment/form/setting_words.ts'
import { changesWords, fieldChanges } from '../../../document/experiment/steered/field_changes.ts'
import { encodeLink } from '../../../document/links/link.ts'
import { linesPicture, type PictureLine } from '../../../document/study/report/lines.ts'
import { markdownText } from '../../../formats/text_tables.ts'
import { logKindWords } from '../../../jobs/logs/base/log_kinds.ts'
import type { RunEntry } from '../../../page/runs/library/library_store.ts'
import { differences } from '../../../record/compare/compare.ts'
import { type BandKind, meanBand, meanSpread } from '../../../record/compare/statistics.ts'
import { leavesOf } from '../../../record/run/leaves.ts'
import { runName } from '../../../record/run/names.ts'
import { seedOf } from '../../../record/run/record.ts'
import { NONE } from '../../kit/format.ts'
import { t } from '../../kit/translator.ts'
import { spread as spreadOut } from '../../plot/files/chart_file.ts'
import { layerEntropy } from '../../shown/metrics.ts'
import { changedText, endText, numberText, tookText } from '../../shown/run_words.ts'
import { choiceLabel, whyNoMean } from '../base/choices.ts'
import { boundsOfRuns, cellOf, cellText, columnLabel, isShare, metricOf } from '../base/columns.ts'
import { groupRuns } from '../base/groups.ts'
import { MAX_COMPARED } from '../base/selection.ts'
import { doneByHandName, withSteeredFields } from '../base/steered_fields.ts'
import { entropyRows } from '../panels/entropy_maps.ts'
import { spreadText } from '../table/spread.ts'
import { curvesFile, differencesTable } from './compared_runs.ts'
import { MAPS_TITLE, mapsPicture } from './maps_picture.ts'
import {
  metricLabels,
  metricsOf,
  type Reading,
  type ReportRun,
  table,
  withName,
} from './report_runs.ts'

/** Points of a line in a picture: more cannot be seen. */
const POINTS = 300
/** Letters of a value in a table. */
const LONGEST = 60

/** A picture of the report, and what stands below it. */
interface Picture {
  readonly file: string
  readonly title: string
  readonly svg: string
}

/** Runs as one line, with a band where they are several; undefined where not all have two
 * values. */
function lineOf(
  name: string,
  runs: readonly ReportRun[],
  choice: string,
  kind: BandKind,
): PictureLine | undefined {
  const found = runs.flatMap(({ entry, columns }) => columns.get(metricOf(entry, choice)) ?? [])
  if (found.length < runs.length) return undefined
  const entries = runs.map(({ entry }) => entry)
  const { low, high } = boundsOfRuns(entries, (entry) => metricOf(entry, choice))
  const band = meanBand(found, kind, [low, high])
  const middle = band?.mean ?? found[0]
  if (middle.length < 2) return undefined
  const chosen = spreadOut(middle.length, POINTS).filter((i) => Number.isFinite(middle.values[i]))
  const take = (values: ArrayLike<number>) => chosen.map((i) => values[i])
  return {
    name,
    band: {
      at: take(middle.steps),
      middle: take(middle.values),
      low: take(band?.low.values ?? middle.values),
      high: take(band?.high.values ?? middle.values),
    },
  }
}

/** A picture of every key metric: a line per run, or per setting with the band of its seeds. */
function curves(runs: readonly ReportRun[], reading: Reading): Picture[] {
  const { band, names } = reading
  const byEntry = new Map(runs.map((run) => [run.entry, run]))
  const alone = (own: readonly RunEntry[]) =>
    own.map((entry) => ({ label: runName(entry).name, counted: [entry] }))
  const together = () =>
    groupRuns([...byEntry.keys()], reading, names).flatMap((group) => [
      ...(group.counted.length > 0 ? [{ ...group, label: t(group.label) }] : []),
      ...alone(group.unfinished),
    ])
  const groups = (band ? together() : alone([...byEntry.keys()])).slice(0, MAX_COMPARED)
  const entries = [...byEntry.keys()]
  return metricsOf(entries).flatMap(({ key }): Picture[] => {
    const title = t(choiceLabel(key, entries))
    const lines = groups.flatMap(({ label: name, counted }) => {
      const own = counted.flatMap((entry) => byEntry.get(entry) ?? [])
      return lineOf(name, own, key, band ?? 't95') ?? []
    })
    return lines.length === 0
      ? []
      : [{ file: `${key}.svg`, title, svg: linesPicture({ title, unit: t('step'), lines }) }]
  })
}

/** The maps layer × step of the runs that measured their layers. */
function maps(runs: readonly ReportRun[]): Picture[] {
  const found = runs.flatMap(({ entry, columns }) => {
    const rows = entropyRows(entry, columns)
    return rows ? [{ name: runName(entry).name, rows }] : []
  })
  return found.length === 0
    ? []
    : [{ file: 'maps.svg', title: t(MAPS_TITLE), svg: mapsPicture(found) }]
}

/** The entropy of every layer's policy, as each run last measured it. */
function layers(runs: readonly ReportRun[]): Picture[] {
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
  const title = t('Entropy of every layer’s policy at the end, nats')
  return [{ file: 'layers.svg', title, svg: linesPicture({ title, unit: t('layer'), lines }, 340) }]
}

const numbersTable = (entries: readonly RunEntry[], reading: Reading): string =>
  table(
    ['run', 'tags', 'seed', 'ended', ...metricLabels(entries)].map(t),
    entries.map((entry) => [
      runName(entry).name,
      entry.labels.tags.join(', '),
      seedOf(entry.header)?.toString() ?? NONE,
      t(endText(entry.header)),
      ...metricsOf(entries).map(({ key, column }) =>
        t(cellText(cellOf(entry, column, reading), column, entry, isShare(key, entries))),
      ),
    ]),
  )

/** Means over runs that belong together; '' where every run is alone. */
function meansTable(entries: readonly RunEntry[], reading: Reading): string {
  const groups = groupRuns(entries, reading, reading.names).filter(
    ({ counted }) => counted.length > 1,
  )
  if (groups.length === 0) return ''
  return table(
    ['group', 'runs', ...metricLabels(entries)].map(t),
    groups.map(({ label, counted }) => [
      t(label),
      `${counted.length}`,
      ...metricsOf(entries).map(({ key, column }) => {
        const values = counted.map((entry) => cellOf(entry, column, reading))
        const spread = meanSpread(values.filter((v): v is number => Number.isFinite(v)))
        if (!spread) return NONE
        const why = whyNoMean(key, counted)
        if (why !== '') return t(`no mean: ${why}`)
        const inShares = isShare(key, entries)
        const middle = numberText(spread.mean, inShares)
        return t(`${middle} ${spreadText(spread, counted, key, inShares)}`)
      }),
    ]),
  )
}

/** Of the runs that have settings: an imported one holds only defaults. */
function settingsTable(all: readonly RunEntry[]): string {
  const entries = all.filter(({ header }) => !header.source)
  const note = entries.length < all.length ? t('Of imported runs no setting is known.') : ''
  if (entries.length < 2) return note
  const documents = entries.map(({ header }) => header.document)
  const runs = entries.map(({ header }) => ({
    document: header.document,
    changes: fieldChanges(header),
  }))
  const found = withSteeredFields(differences(documents), runs)
  if (found.length === 0)
    return `${t('Their settings are the same, seed included.')} ${note}`.trim()
  const columns = found.map(({ path }) => `setting:${path}`)
  const told = table(
    [t('setting'), ...entries.map((entry) => runName(entry).name)],
    found.map(({ path, values }, row) => [
      t(doneByHandName(path) ?? columnLabel(columns[row], columns)),
      ...runs.map(({ document, changes }, i) => {
        const said = (value: unknown) => settingValue(document, path, value)
        const changed = changes.get(path)
        const value = leavesOf(document).get(path)
        if (changed) return t(changesWords(changed, said))
        const words = value === undefined ? (values[i] ?? NONE) : said(value)
        return t(words).slice(0, LONGEST) || t('(empty)')
      }),
    ]),
  )
  return note === '' ? told : `${told}\n\n${note}`
}

/** What a person said of a run, where it ran, and how to run it again. */
function aboutRun(entry: RunEntry, address: string): string {
  const { header, labels } = entry
  const took = tookText(header)
  const { source, versions } = header
  const where = source
    ? [t(`imported from ${source.file} (${logKindWords(source.kind)})`)]
    : [header.adapter, took && t(`took ${took}`), t(`version ${versions.understory}`)]
  const { name, differs } = runName(entry)
  const changed = changedText(header).map(([field, values]) => `${field} ${values}`)
  const lines = [
    `### ${markdownText(name)}`,
    name === differs ? '' : markdownText(t(differs)),
    changed.length > 0 ? markdownText(t(`Changed by hand: ${changed.join('; ')}.`)) : '',
    labels.notes.trim().split('\n').map(markdownText).join('\n'),
    header.error ? markdownText(t(`Error: ${header.error.message}`)) : '',
    markdownText(where.filter(Boolean).join(' · ')),
    header.source ? '' : `[${t('Run it again')}](${address}?${encodeLink(header.document)})`,
  ]
  return lines.filter(Boolean).join('\n\n')
}

/** The files of a report by their names. `address` is that of the page, before its query. */
export function runReport(
  chosen: readonly ReportRun[],
  reading: Reading,
  address: string,
): ReadonlyMap<string, string> {
  const runs = chosen.map((run) => withName(run, reading))
  const entries = runs.map(({ entry }) => entry)
  const drawn = runs.slice(0, MAX_COMPARED)
  const pictures = [...curves(runs, reading), ...layers(drawn), ...maps(drawn)]
  const means = meansTable(entries, reading)
  const paired = differencesTable(entries, reading)
  const { statistic, isSmoothed } = reading
  const parts = [
    `# ${runs.length === 1 ? markdownText(runName(entries[0]).name) : t(`Comparison of ${runs.length} runs`)}`,
    ...(reading.said === undefined ? [] : [markdownText(t(reading.said))]),
    t(`Numbers are the ${statistic} ones of each run${isSmoothed ? ', smoothed' : ''}.`),
    numbersTable(entries, reading),
    ...(means === ''
      ? []
      : [
          `## ${t('Means over the runs')}`,
          means,
          t(
            'Means over the runs of a group, in brackets the lowest and the highest; from 5 runs on the 95 % interval of the mean, Student’s t.',
          ),
        ]),
    ...(paired === '' ? [] : [`## ${t('Differences by seed')}`, paired]),
    ...(runs.length > 1 ? [`## ${t('Settings that differ')}`, settingsTable(entries)] : []),
    `## ${t('Curves of the runs')}`,
    ...(means === '' || !reading.band
      ? []
      : [
          t(
            `Lines of several runs are their mean; the band is ${reading.band === 't95' ? 'its 95 % interval, Student’s t, cut where the measure ends, and of fewer than 5 runs that of the lowest and the highest run' : 'that of the lowest and the highest run'}.`,
          ),
        ]),
    ...(runs.length > drawn.length
      ? [t(`Layers and maps are those of the first ${drawn.length} runs.`)]
      : []),
    ...(pictures.length === 0 ? [t('None of the runs has measured two steps.')] : []),
    ...pictures.map(({ file, title }) => {
      const said = markdownText(title)
      return `![${said}](${file})\n\n*${said}*`
    }),
    ...(pictures.length === 0 ? [] : [t('Their numbers are in [curves.csv](curves.csv).')]),
    `## ${t('Runs')}`,
    ...entries.map((entry) => aboutRun(entry, address)),
  ]
  return new Map([
    ['report.md', `${parts.join('\n\n')}\n`],
    ...(pictures.length === 0 ? [] : [['curves.csv', curvesFile(runs)] as const]),
    ...pictures.map(({ file, svg }) => [file, svg] as const),
  ])
}
