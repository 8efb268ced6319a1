// Draws lines of one or more metrics over the run's steps, with a legend that reads out values.
import { type ReactNode, useCallback, useMemo, useState } from 'react'
import { useStore } from 'zustand'
import { fileSlug } from '../../record/files/file_names.ts'
import { ticksOf } from '../scales/bounds.ts'
import type { Domain } from '../scales/domain.ts'
import { type Ideal, idealWords } from '../scales/ideal.ts'
import type { View } from '../scales/view.ts'
import { type Overlay, overlayKey, useLogged, useOverlays } from '../shown/overlays.ts'
import { seriesOf } from '../shown/run.ts'
import { type UiState, uiStore } from '../shown/store.ts'
import { unitOf } from './axes/unit.ts'
import { useAxes, useValueAxis } from './axes/use_axes.ts'
import type { Key } from './base/Keys.tsx'
import { type Paint, Plot } from './base/Plot.tsx'
import { ChartCard } from './ChartCard.tsx'
import {
  behindText,
  boundsOf,
  columnsOf,
  type Line,
  leftOutWords,
  lineOff,
  lineText,
  type NumberedLine,
  numbered,
  overlayKeys,
  strokesOf,
  summaryOf,
  thinnedText,
} from './chart_lines.ts'
import { Legend } from './Legend.tsx'
import { LineLabels } from './LineLabels.tsx'
import { drawnOf, drawStrokes } from './lines/strokes.ts'
import { useLiveText } from './live_text.ts'

export type { Line }

export interface MetricChartProps {
  readonly id: string
  readonly title: string
  /** One sentence under the title; says unit and definition, where these are known. */
  readonly note: string | undefined
  readonly lines: readonly Line[]
  /** What the chart shows of this run, in a sentence; '' for nothing. The same function for the
   * same lines. */
  readonly says?: (() => string) | undefined
  readonly height: number
  /** Fixed axis, or undefined for one that grows with the data and holds 0. */
  readonly y?: Domain
  readonly formatY: (value: number) => string
  readonly formatValue: (value: number | undefined) => string
  /** Small: phase numbers instead of names, one line, its value beside the title. */
  readonly compact?: boolean
  /** Small, and with several lines: a legend with their values, in place of one beside the
   * title. */
  readonly hasLegend?: boolean
  /** Below the legend. */
  readonly foot?: ReactNode
  /** Where a healthy run's values lie: a band behind the lines, and in words. */
  readonly ideal?: Ideal
}

/** More names at the ends of lines would hide them. */
const MOST_LABELS = 8

const NO_LINES: readonly NumberedLine[] = []
const selectHidden = (state: UiState) => state.hiddenLines
const selectIsDark = (state: UiState) => state.isDark
const selectSmoothing = (state: UiState) => state.smoothing

/** Everything that decides how a chart looks. */
function useChart({ id, lines: given, y: fixed, compact = false }: MetricChartProps) {
  const all = useMemo(() => numbered(given), [given])
  const hidden = useStore(uiStore, selectHidden)
  const isDark = useStore(uiStore, selectIsDark)
  const weight = useStore(uiStore, selectSmoothing)
  const { x, logX, logY } = useAxes(id)
  const allOverlays = useOverlays()
  const among = useMemo(() => all.filter((l) => !hidden.has(l.metric)), [all, hidden])
  const overlays = useMemo(
    () => allOverlays.filter((overlay) => !hidden.has(overlayKey(overlay.id))),
    [allOverlays, hidden],
  )
  const off = useStore(uiStore, () => (logY ? '' : lineOff(among, overlays, x)))
  const { lines, visible, drawn } = useMemo(() => {
    const mark = (line: NumberedLine) => (line.metric === off ? { ...line, isOff: true } : line)
    const [lines, visible] = [all.map(mark), among.map(mark)]
    return { lines, visible, drawn: visible.filter(({ isOff }) => !isOff) }
  }, [all, among, off])
  const axis = useValueAxis(() => {
    const bounds = boundsOf(drawn, overlays, x, logY ? undefined : weight)
    const ticks = ticksOf(bounds, fixed, logY, compact ? 3 : 5)
    const thinned = thinnedText(visible, overlays, weight)
    return { ticks, notPositive: logY ? bounds.notPositive : 0, thinned }
  })
  const strokes = useCallback(
    () => strokesOf(drawn, overlays, weight, isDark),
    [drawn, overlays, weight, isDark],
  )
  return {
    lines,
    visible,
    drawn,
    overlays,
    allOverlays,
    weight,
    isDark,
    logX,
    logY,
    x,
    axis,
    strokes,
  }
}

/** Which line is not drawn, and how to see it. */
const offWords = (lines: readonly NumberedLine[]): string =>
  lines
    .filter(({ isOff }) => isOff)
    .map(({ label }) => `Above this axis: ${label}. Alone, or on a logarithmic axis, it is drawn.`)
    .join('')

/** The legend of a picture. */
const keysOf = (
  lines: readonly NumberedLine[],
  overlays: readonly Overlay[],
  ideal: string | undefined,
): readonly Key[] => [
  ...lines.map(({ label, color, width = 1.5, dash = [] }) => ({ label, color, width, dash })),
  ...overlayKeys(lines, overlays),
  ...(ideal === undefined ? [] : [{ label: ideal, color: '--ideal', width: 9, dash: [] }]),
]

/** What is painted, said and saved of a chart. */
function useContent(props: MetricChartProps, chart: ReturnType<typeof useChart>) {
  const { lines, formatValue, formatY, title, note, ideal } = props
  const { visible, drawn, overlays, weight, isDark, strokes } = chart
  const paint = useCallback<Paint>(
    (ctx, view, _, from) => drawStrokes(ctx, strokes(), view, from),
    [strokes],
  )
  const painted = useCallback((view: View) => drawnOf(strokes(), view), [strokes])
  const summarise = useCallback(
    () => summaryOf(lines, formatValue, ideal && { ...ideal, words: idealWords(ideal, formatY) }),
    [lines, formatValue, formatY, ideal],
  )
  const columns = useCallback(
    () => columnsOf(visible, overlays, weight),
    [visible, overlays, weight],
  )
  const picture = useCallback(
    () => ({
      title,
      yLabel: note ?? title,
      isDark,
      keys: keysOf(drawn, overlays, ideal && idealWords(ideal, formatY)),
    }),
    [title, note, isDark, drawn, overlays, ideal, formatY],
  )
  return { paint, drawn: painted, summarise, columns, picture }
}

/** Nothing where a log has none of the lines. */
export function MetricChart(props: MetricChartProps) {
  const lines = useLogged(props.lines)
  return lines.length === 0 ? null : <DrawnChart {...props} lines={lines} />
}

function DrawnChart(props: MetricChartProps) {
  const { id, lines, formatValue, formatY, title, note, compact = false, ideal } = props
  const chart = useChart(props)
  const { visible, allOverlays, x, axis, strokes, logX, logY } = chart
  const { paint, drawn, summarise, columns, picture } = useContent(props, chart)
  const { lines: all } = chart
  const hasLabels = !compact && all.length > 1 && all.length <= MOST_LABELS
  const [isNamed, setNamed] = useState(true)
  const hasLegend = props.hasLegend ?? !(compact || (hasLabels && isNamed))
  const over = useCallback(
    (view: View) => (
      <LineLabels lines={all} view={view} formatValue={formatValue} onNamed={setNamed} />
    ),
    [all, formatValue],
  )
  return (
    <ChartCard
      id={id}
      title={title}
      note={note}
      says={props.says}
      file={fileSlug(lines.length === 1 ? lines[0].metric : id.replace(/-chart$/, ''))}
      compact={compact}
      x={x}
      hasLog
      leftOut={`${offWords(visible)} ${leftOutWords(axis.notPositive, logX)} ${axis.thinned}`.trim()}
      columns={columns}
      picture={picture}
      strokes={strokes}
      formatValue={formatValue}
      value={compact && !hasLegend ? <Value lines={lines} formatValue={formatValue} /> : undefined}
      foot={
        <>
          {ideal ? <IdealKey ideal={ideal} formatY={formatY} /> : null}
          {hasLegend || allOverlays.length > 0 ? (
            <Legend
              // A lone line has its own value beside the title.
              lines={hasLegend ? all : NO_LINES}
              visible={visible}
              formatValue={formatValue}
            />
          ) : null}
          {props.foot}
        </>
      }
      plot={({ id: plotId, handle }) => (
        <Plot
          id={plotId}
          title={title}
          handle={handle}
          height={props.height}
          x={x}
          y={axis.y}
          yTicks={axis.ticks}
          logX={logX}
          logY={logY}
          formatY={formatY}
          unit={note && unitOf(note)}
          withNames={!compact}
          hasGutter={!compact}
          showGrid
          {...(ideal ? { ideal } : {})}
          paint={paint}
          drawn={drawn}
          summarise={summarise}
          over={hasLabels ? over : undefined}
        />
      )}
    />
  )
}

/** What the band behind the lines is. */
function IdealKey({ ideal, formatY }: { ideal: Ideal } & Pick<MetricChartProps, 'formatY'>) {
  return (
    <p className="ideal soft" title={ideal.why}>
      <span className="ideal-swatch" aria-hidden="true" />
      {idealWords(ideal, formatY)}
      <span className="visually-hidden">. {ideal.why}</span>
    </p>
  )
}

/** The value under the crosshair, of the shown step, or the latest. */
function Value({ lines, formatValue }: Pick<MetricChartProps, 'lines' | 'formatValue'>) {
  const text = useCallback(() => {
    const { smoothing } = uiStore.getState()
    const columns = lines.map(({ metric }) => seriesOf(metric))
    const behind = behindText(columns, formatValue, smoothing)
    const line = lineText(columns, formatValue)
    return behind === '' ? line : `${line}, ${behind}`
  }, [lines, formatValue])
  return <span className="value" ref={useLiveText<HTMLElement>(text)} />
}
