// Computes what a chart of metrics draws and says: lines of the shown run, and other runs behind
// them.

import { cutText } from '../../formats/cut_text.ts'
import { thinnedOf, thinnedWords } from '../../host/columns/thinning.ts'
import { formatCount } from '../kit/format.ts'
import { type Bounds, boundsIn } from '../scales/bounds.ts'
import type { Columns } from '../scales/columns.ts'
import { resolveColor } from '../scales/css_colors.ts'
import type { Domain } from '../scales/domain.ts'
import { extentIn } from '../scales/extent.ts'
import { type Ideal, placeWords } from '../scales/ideal.ts'
import { isFew, MAX_WEIGHT, smoothed } from '../scales/smooth.ts'
import type { Overlay } from '../shown/overlays.ts'
import { lineStep, measuredIn } from '../shown/readout.ts'
import { seriesOf } from '../shown/run.ts'
import { isImported, shownStore } from '../shown/shown.ts'
import { uiStore } from '../shown/store.ts'
import type { NamedColumns } from './files/chart_file.ts'
import { withGaps } from './lines/gaps.ts'
import type { Stroke } from './lines/strokes.ts'

const RAW_OPACITY = 0.25
/** Pale: the same series of this run may have the same colour and dash. */
const OVERLAY_OPACITY = 0.55
const OVERLAY_WIDTH = 1.25
/** Letters of a run's name before that of its series. */
const MAX_KEY = 40

export interface Line {
  /** Name of the metric. */
  readonly metric: string
  readonly label: string
  /** Beside the end of the line, where there is room for a word. */
  readonly short?: string
  /** A token such as '--series-1', or any CSS colour. */
  readonly color: string
  readonly width?: number
  readonly dash?: readonly number[]
  readonly dots?: boolean
  /** A step that did not measure it is a gap, which the line does not cross. */
  readonly hasGaps?: boolean
  /** It is smoothed at least so much, with what was measured faintly behind it. */
  readonly smooth?: number
  /** One sentence for the legend's tooltip. */
  readonly help?: string
  /** It stays off an even axis on which the others would lie flat: see `lineOff`. */
  readonly mayLeave?: boolean
}

/** How much these columns of a line are smoothed: as the person asked, and no less than they need
 * to be read. */
export const weightOf = (
  { smooth = 0 }: Pick<Line, 'smooth'>,
  asked: number,
  columns: Columns | undefined,
): number => Math.min(MAX_WEIGHT, isFew(columns) ? asked : Math.max(smooth, asked))

/** A line, and how other runs' lines of the same metric are dashed. */
export interface NumberedLine extends Line {
  /** Undefined on a chart of one series, where a run's own dash tells it apart. */
  readonly behindDash: readonly number[] | undefined
  /** It is not drawn: its values lie above the axis. */
  readonly isOff?: boolean
}

/** Of the series of one run, whose colour is the run's: no two of the first eight are alike. */
const SERIES_DASHES: readonly (readonly number[])[] = [
  [],
  [9, 3],
  [2, 3],
  [9, 3, 2, 3],
  [5, 3],
  [14, 4],
  [2, 2, 2, 6],
  [14, 3, 2, 3, 2, 3],
]

/** Lines of one label follow one another and are one series. */
export function numbered(lines: readonly Line[]): NumberedLine[] {
  const series = [...new Set(lines.map(({ label }) => label))]
  return lines.map((line) => ({
    ...line,
    behindDash:
      series.length > 1
        ? SERIES_DASHES[series.indexOf(line.label) % SERIES_DASHES.length]
        : undefined,
  }))
}

/** The lines of each series. */
export const bySeries = <T extends Line>(lines: readonly T[]): T[][] =>
  [...new Set(lines.map(({ label }) => label))].map((series) =>
    lines.filter(({ label }) => label === series),
  )

/** How the line of another run looks on a chart. */
export const overlayStyle = ({ color, dash }: Overlay, { behindDash }: NumberedLine) => ({
  color,
  dash: behindDash ?? dash,
  width: OVERLAY_WIDTH,
})

/** Of everything that the chart draws in these steps; with `asked`, also of the lines that are
 * smoothed so much. */
export const boundsOf = (
  lines: readonly Line[],
  overlays: readonly Overlay[],
  x: Domain,
  asked?: number,
): Bounds =>
  boundsIn(
    lines.flatMap((line) => {
      const { metric } = line
      const drawn = (columns: Columns | undefined) =>
        columns && asked !== undefined
          ? [columns, smoothed(columns, weightOf(line, asked, columns))]
          : [columns]
      return [
        ...drawn(seriesOf(metric)),
        ...overlays.flatMap((overlay) => {
          const band = overlay.band?.(metric)
          return [...drawn(overlay.series(metric)), band?.low, band?.high]
        }),
      ]
    }),
    x,
  )

/** The others are told apart on no less of the axis. */
const LEAST_SHARE = 1 / 3

/** Whether a line up to `far` would lay those up to `near` flat on an even axis. */
export const wouldPress = (far: number, near: number): boolean =>
  Number.isFinite(near) && near < far * LEAST_SHARE

/** The metric of the line that may leave an even axis, where the others end below a third of it; ''
 * where all are drawn. */
export function lineOff(lines: readonly Line[], overlays: readonly Overlay[], x: Domain): string {
  const own = lines.find(({ mayLeave }) => mayLeave)
  if (!own) return ''
  const others = lines.filter((line) => line !== own)
  const [far, near] = [[own], others].map((some) => boundsOf(some, overlays, x).high)
  return wouldPress(far, near) ? own.metric : ''
}

/** What the lines no longer have, as a sentence; '' where they are whole. */
export function thinnedText(
  lines: readonly Line[],
  overlays: readonly Overlay[],
  weight: number,
): string {
  const columns = lines.flatMap(({ metric }) => [
    seriesOf(metric) ?? [],
    ...overlays.map((overlay) => overlay.series(metric) ?? []),
  ])
  const words = thinnedWords(thinnedOf(columns.flat()))
  const isSmooth = lines.some((line) => weightOf(line, weight, seriesOf(line.metric)) > 0)
  return words === '' || !isSmooth ? words : `${words} A smoothed line is fitted to what is kept.`
}

/** What is drawn, from back to front: bands, other runs, measured lines behind their smoothed
 * ones. */
export function strokesOf(
  lines: readonly NumberedLine[],
  overlays: readonly Overlay[],
  asked: number,
  isDark: boolean,
): Stroke[] {
  const bands: Stroke[] = []
  const behind: Stroke[] = []
  const own: Stroke[] = []
  for (const line of lines) {
    const { metric, color: name, width = 1.5, dash = [], dots = false } = line
    const rows = (columns: Columns) => (line.hasGaps ? withGaps(columns) : columns)
    for (const overlay of overlays) {
      const color = resolveColor(overlay.color, isDark)
      const area = overlay.band?.(metric)
      if (area) bands.push({ kind: 'band', ...area, color })
      const columns = overlay.series(metric)
      const look = { dots: false, opacity: OVERLAY_OPACITY }
      const style = { ...overlayStyle(overlay, line), ...look, color }
      if (columns)
        behind.push({
          kind: 'line',
          columns: smoothed(rows(columns), weightOf(line, asked, columns)),
          style,
        })
    }
    const columns = seriesOf(metric)
    if (!columns) continue
    const weight = weightOf(line, asked, columns)
    const style = { color: resolveColor(name, isDark), width, dash, dots }
    if (weight > 0)
      behind.push({
        kind: 'line',
        columns: rows(columns),
        style: { ...style, dash: [], opacity: RAW_OPACITY },
      })
    own.push({
      kind: 'line',
      columns: smoothed(rows(columns), weight),
      style: { ...style, dots: dots && weight === 0 },
    })
  }
  return [...bands, ...behind, ...own]
}

/** What a picture says of other runs' lines: each run, and each of its series where there are
 * several. */
export function overlayKeys(
  lines: readonly NumberedLine[],
  overlays: readonly Overlay[],
): { label: string; color: string; width: number; dash: readonly number[] }[] {
  return overlays.flatMap((overlay) => {
    const drawn = lines.filter(({ metric }) => overlay.series(metric))
    return bySeries(drawn).map(([line]) => ({
      ...overlayStyle(overlay, line),
      label:
        line.behindDash === undefined
          ? overlay.label
          : `${cutText(overlay.label, MAX_KEY)}: ${line.label}`,
    }))
  })
}

/** What an axis cannot show, in words. */
export function leftOutWords(notPositive: number, logX: boolean): string {
  const values =
    notPositive > 0
      ? `${formatCount(notPositive)} ${notPositive === 1 ? 'value' : 'values'} at or below 0 cannot be on this axis and ${notPositive === 1 ? 'is a gap' : 'are gaps'}. `
      : ''
  return `${values}${logX ? 'Step 0 cannot be on a logarithmic axis.' : ''}`.trimEnd()
}

type Read = readonly (Columns | undefined)[]
type Format = (value: number | undefined) => string

/** What was measured at the step that is read out, or at the end of a zoom: like every number of
 * the page, also beside a line that is smoothed. */
export const lineText = (columns: Read, formatValue: Format): string =>
  formatValue(measuredIn(columns, lineStep())?.value)

/** What stands behind that, in as few words as a gutter has room for: the step of an older value,
 * else where a smoothed line lies. */
export function behindText(columns: Read, formatValue: Format, weight: number): string {
  const step = lineStep()
  const found = measuredIn(columns, step)
  if (!found) return ''
  const isOlder = step !== undefined && found.step < step
  if (isOlder) return `at step ${found.step}`
  if (weight === 0) return ''
  const smooth = columns.map((own) => own && smoothed(own, weight))
  return `fit ${formatValue(measuredIn(smooth, step)?.value)}`
}

/** Metrics of a log that are named where it lacks what a chart draws. */
const MOST_NAMED = 4

/** Of a log, which is over: what it has instead. */
function missingWords(): string {
  const names = [...shownStore.getState().series.keys()]
  const more = names.length - MOST_NAMED
  const named = names.slice(0, MOST_NAMED).join(', ')
  return more > 0
    ? `The log has none of this. It has ${named} and ${more} more.`
    : `The log has none of this. It has ${named}.`
}

/** What a chart says to people who do not see it. */
export function summaryOf(
  lines: readonly Line[],
  formatValue: (value: number | undefined) => string,
  ideal?: Ideal & { readonly words: string },
): string {
  const { atStep } = uiStore.getState()
  const words = lines.flatMap(({ label, metric }) => {
    const columns = seriesOf(metric)
    if (!columns || columns.length === 0) return []
    const { min, max } = extentIn(columns)
    const found = measuredIn([columns], atStep)
    const now = formatValue(found?.value)
    const [low, high] = [formatValue(min), formatValue(max)]
    return found && atStep !== undefined && found.step < atStep
      ? [`${label}: ${now} at step ${found.step}, between ${low} and ${high}`]
      : [`${label}: ${now}, between ${low} and ${high}`]
  })
  if (words.length === 0) return isImported() ? missingWords() : 'Nothing measured yet.'
  const said = `${atStep === undefined ? 'Newest values' : `At step ${atStep}`}. ${words.join('; ')}.`
  if (!ideal) return said
  const values = lines.map(({ metric }) => measuredIn([seriesOf(metric)], atStep))
  const place = placeWords(ideal, values.find((found) => found?.value !== undefined)?.value)
  return `${said} ${ideal.words}${place === '' ? '' : `; ${place}`}.`
}

/** The visible lines by the names that files give them, with those of the chart. */
export function columnsOf(
  lines: readonly Line[],
  overlays: readonly Overlay[],
  asked: number,
): NamedColumns[] {
  return lines.flatMap((line) => {
    const { metric, label } = line
    const own = seriesOf(metric)
    const weight = weightOf(line, asked, own)
    const named: NamedColumns[] = own ? [{ name: metric, label, columns: own }] : []
    if (own && weight > 0) {
      const columns = smoothed(own, weight)
      named.push({ name: `${metric} (fit ${weight})`, label: `${label}, fit`, columns })
    }
    for (const overlay of overlays) {
      const columns = overlay.series(metric)
      const whose = overlay.label
      if (columns) named.push({ name: `${whose}: ${metric}`, label: `${whose}: ${label}`, columns })
    }
    return named
  })
}
