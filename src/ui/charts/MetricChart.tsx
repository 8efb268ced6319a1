// Lines of one or more metrics over the run's steps, with a legend that reads out values.
import { useCallback, useId, useMemo } from 'react'
import { useStore } from 'zustand'
import { seriesOf } from '../run.ts'
import { toggleLine, uiStore } from '../store.ts'
import { type Domain, niceTicks } from './domain.ts'
import { extentOf } from './extent.ts'
import { drawLine, indexAt } from './lines.ts'
import { type Paint, Plot } from './Plot.tsx'
import { resolveColor } from './tokens.ts'

export interface Line {
  /** Name of the metric. */
  readonly metric: string
  readonly label: string
  /** A token such as '--series-1', or any CSS colour. */
  readonly color: string
  readonly width?: number
  readonly dash?: readonly number[]
  readonly dots?: boolean
  /** One sentence for the legend's tooltip. */
  readonly help?: string
}

export interface MetricChartProps {
  readonly id: string
  readonly title: string
  /** One sentence under the title; says unit and definition. */
  readonly note: string
  readonly lines: readonly Line[]
  readonly height: number
  /** Fixed axis, or undefined for one that grows with the data and holds 0. */
  readonly y?: Domain
  readonly formatY: (value: number) => string
  readonly formatValue: (value: number | undefined) => string
  /** Small: phase numbers instead of names, one line, its value beside the title. */
  readonly compact?: boolean
}

/** The newest value of several metrics that follow one another. */
function newestAt(metrics: readonly string[], step: number | undefined): number | undefined {
  let [newest, value]: [number, number | undefined] = [-1, undefined]
  for (const metric of metrics) {
    const columns = seriesOf(metric)
    if (!columns || columns.length === 0) continue
    const index = step === undefined ? columns.length - 1 : indexAt(columns, step)
    if (index >= 0 && columns.steps[index] > newest)
      [newest, value] = [columns.steps[index], columns.values[index]]
  }
  return value
}

/** Value of a line at a step (the newest measured until then), or its latest. */
function valueAt(metric: string, step: number | undefined): number | undefined {
  return newestAt([metric], step)
}

/** Ticks that hold 0 and every visible value; a text, so that unchanged ticks render nothing. */
function tickKey(metrics: readonly string[], count: number): string {
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  for (const metric of metrics) {
    const columns = seriesOf(metric)
    if (!columns) continue
    const [min, max] = extentOf(columns)
    low = Math.min(low, min)
    high = Math.max(high, max)
  }
  if (low > high) return niceTicks(0, 1, count).join(' ')
  return niceTicks(Math.min(0, low), Math.max(0, high), count).join(' ')
}

export function MetricChart(props: MetricChartProps) {
  const { lines, formatValue, title, y: fixed, compact = false } = props
  const hidden = useStore(uiStore, (state) => state.hidden_lines)
  const is_dark = useStore(uiStore, (state) => state.is_dark)
  const visible = useMemo(() => lines.filter((l) => !hidden.has(l.metric)), [lines, hidden])
  const count = compact ? 3 : 5
  const key = useStore(uiStore, () =>
    fixed
      ? niceTicks(fixed[0], fixed[1], count).join(' ')
      : tickKey(
          visible.map((l) => l.metric),
          count,
        ),
  )
  const ticks = useMemo(() => key.split(' ').map(Number), [key])
  const paint = useCallback<Paint>(
    (ctx, view) => {
      for (const line of visible) {
        const columns = seriesOf(line.metric)
        if (!columns) continue
        drawLine(ctx, columns, view, {
          color: resolveColor(line.color, is_dark),
          width: line.width ?? 1.5,
          dash: line.dash ?? [],
          dots: line.dots ?? false,
        })
      }
    },
    [visible, is_dark],
  )
  const summarise = useCallback(
    () =>
      compact
        ? `${title}: ${formatValue(
            newestAt(
              lines.map((l) => l.metric),
              undefined,
            ),
          )}`
        : `${title}. ${lines
            .map((l) => `${l.label}: ${formatValue(valueAt(l.metric, undefined))}`)
            .join('; ')}`,
    [title, lines, formatValue, compact],
  )
  const title_id = useId()
  return (
    <figure className={compact ? 'card chart compact' : 'card chart'} aria-labelledby={title_id}>
      <figcaption>
        <h2 id={title_id}>{title}</h2>
        {compact ? <Value lines={lines} formatValue={formatValue} /> : null}
        <p className="soft">{props.note}</p>
      </figcaption>
      <Plot
        id={props.id}
        height={props.height}
        y={[ticks[0], ticks[ticks.length - 1]]}
        y_ticks={ticks}
        formatY={props.formatY}
        with_names={!compact}
        show_grid
        paint={paint}
        summarise={summarise}
      />
      {compact ? null : <Legend lines={lines} formatValue={formatValue} />}
    </figure>
  )
}

/** The value under the crosshair, or the latest. */
function Value({ lines, formatValue }: Pick<MetricChartProps, 'lines' | 'formatValue'>) {
  useStore(uiStore, (state) => state.frame)
  const step = useStore(uiStore, (state) => state.hover_step)
  return (
    <output className="value">
      {formatValue(
        newestAt(
          lines.map((line) => line.metric),
          step,
        ),
      )}
    </output>
  )
}

function Legend({ lines, formatValue }: Pick<MetricChartProps, 'lines' | 'formatValue'>) {
  useStore(uiStore, (state) => state.frame)
  const step = useStore(uiStore, (state) => state.hover_step)
  const hidden = useStore(uiStore, (state) => state.hidden_lines)
  const all = lines.map((line) => line.metric)
  return (
    <ul className="legend">
      {lines.map((line) => (
        <li key={line.metric}>
          <button
            type="button"
            aria-pressed={!hidden.has(line.metric)}
            title={`${line.help ?? line.label}. Click hides or shows it; Shift or double click shows it alone.`}
            onClick={(event) => toggleLine(line.metric, all, event.shiftKey)}
            onDoubleClick={() => toggleLine(line.metric, all, true)}
          >
            <svg width="18" height="8" aria-hidden="true">
              <line
                x1="1"
                x2="17"
                y1="4"
                y2="4"
                stroke={line.color.startsWith('--') ? `var(${line.color})` : line.color}
                strokeWidth={(line.width ?? 1.5) + 0.5}
                strokeDasharray={line.dash?.join(' ')}
              />
            </svg>
            <span>{line.label}</span>
            <output>{formatValue(valueAt(line.metric, step))}</output>
          </button>
        </li>
      ))}
    </ul>
  )
}
