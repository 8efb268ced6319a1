// Lines over the run's steps on the page's common step axis, with phases shaded and the shown step marked.
import { type ReactNode, useCallback, useMemo, useRef } from 'react'
import { useStore } from 'zustand'
import type { LabState } from '../../lab/store.ts'
import type { Domain } from '../charts/domain.ts'
import { niceTicks } from '../charts/domain.ts'
import { extentOf } from '../charts/extent.ts'
import { type Columns, drawLine, indexAt, toPixel, type View } from '../charts/lines.ts'
import type { Paint } from '../charts/Plot.tsx'
import { resolveColor } from '../charts/tokens.ts'
import { shownPhases, useLastLayer } from '../run.ts'
import { shownStore, useAtStep, useShown } from '../shown.ts'
import { type UiState, uiStore } from '../store.ts'
import type { Seen } from './observed.ts'
import { Readout } from './Readout.tsx'
import { StepPlot } from './StepPlot.tsx'

export interface StepLine {
  readonly key: string
  readonly label: string
  /** A token such as '--series-1', or any CSS colour. */
  readonly color: string
  readonly width?: number
  readonly dash?: readonly number[]
  readonly columns: Columns
  /** Drawn, but not read out: there are too many. */
  readonly is_quiet?: boolean
}

export interface StepChartProps {
  readonly id: string
  readonly title: string
  readonly height: number
  /** Whether it is in view: out of view nothing is computed. */
  readonly is_visible: boolean
  /** Asked at each redraw; a new function means other lines. */
  readonly lines: () => readonly StepLine[]
  /** Values that the axis always holds. */
  readonly must: readonly number[]
  readonly formatY: (value: number) => string
  readonly formatValue: (value: number | undefined) => string
  /** Below the plot. */
  readonly children?: ReactNode
}

/** Computes from what is kept of the shown run, anew only when that has changed. */
export function ofKept<T>(compute: (items: readonly Seen[]) => T): () => T {
  let known: { readonly kept: object; readonly version: number; readonly value: T } | undefined
  return () => {
    const { kept, kept_version } = shownStore.getState()
    if (known?.kept !== kept || known.version !== kept_version)
      known = { kept, version: kept_version, value: compute(kept.observations.items) }
    return known.value
  }
}

/** Begin and end of phases that train an inner layer, by step. */
interface Shade {
  readonly from: number
  readonly to: number
}

const selectSwitches = (state: LabState) => state.phase_switches

/** Phases that train an inner layer; the frame shades those that imitate. */
function useInnerPhases(): readonly Shade[] {
  const switches = useShown(selectSwitches)
  const phases = useShown(shownPhases)
  const last_layer = useLastLayer()
  return useMemo(
    () =>
      switches.flatMap(({ step, phase }, i) => {
        const one = phases[phase]
        if (one?.kind !== 'rl' || one.target_layer === last_layer) return []
        return [{ from: step, to: switches[i + 1]?.step ?? step + one.steps }]
      }),
    [switches, phases, last_layer],
  )
}

function paintShades(
  ctx: CanvasRenderingContext2D,
  shades: readonly Shade[],
  view: View,
  color: string,
): void {
  ctx.save()
  ctx.globalAlpha = 0.14
  ctx.fillStyle = color
  for (const { from, to } of shades) {
    const left = Math.max(0, toPixel(from, view.x, view.width))
    const right = Math.min(view.width, toPixel(to, view.x, view.width))
    if (right > left) ctx.fillRect(left, 0, right - left, view.height)
  }
  ctx.restore()
}

/** A line through the step that the page shows, where it does not follow the run. */
export function paintStep(
  ctx: CanvasRenderingContext2D,
  step: number | undefined,
  view: View,
  color: string,
): void {
  if (step === undefined || step < view.x[0] || step > view.x[1]) return
  const x = Math.round(toPixel(step, view.x, view.width)) + 0.5
  ctx.strokeStyle = color
  ctx.lineWidth = 1.5
  ctx.setLineDash([])
  ctx.beginPath()
  ctx.moveTo(x, 0)
  ctx.lineTo(x, view.height)
  ctx.stroke()
}

/** Ticks as a text, so that unchanged ones render nothing. */
function tickKey(lines: readonly StepLine[], must: readonly number[]): string {
  const all = [...must]
  for (const { columns } of lines) {
    const [low, high] = extentOf(columns)
    if (low <= high) all.push(low, high)
  }
  return niceTicks(Math.min(...all), Math.max(...all), 4).join(' ')
}

const selectHover = ({ hover_step }: UiState) => hover_step
const selectIsDark = ({ is_dark }: UiState) => is_dark
const selectFrame = ({ frame }: UiState) => frame
const asleep = () => 0
const moveTo = (hover_step: number | undefined) => uiStore.setState({ hover_step })

/** Of the newest entry at or before a step; without one, of the newest; −1 where there is none. */
const indexUntil = (columns: Columns, step: number | undefined): number =>
  step === undefined ? columns.length - 1 : indexAt(columns, step)

function valueAt(columns: Columns, step: number | undefined): number | undefined {
  const index = indexUntil(columns, step)
  return index < 0 ? undefined : columns.values[index]
}

/** Every line as it was measured at or before a step, or last. */
function read(
  lines: readonly StepLine[],
  step: number | undefined,
  format: StepChartProps['formatValue'],
) {
  const values = lines
    .filter(({ is_quiet }) => !is_quiet)
    .map(({ label, columns }) => `${label}: ${format(valueAt(columns, step))}`)
  const measured = lines.flatMap(({ columns }) => {
    const index = indexUntil(columns, step)
    return index < 0 ? [] : [columns.steps[index]]
  })
  if (measured.length === 0) return step === undefined ? 'Nothing measured yet.' : `Step ${step}: –`
  return `Step ${Math.max(...measured)}. ${values.join('; ')}`
}

export function StepChart(props: StepChartProps) {
  const { id, title, height, is_visible, lines, must, formatY, formatValue } = props
  const is_dark = useStore(uiStore, selectIsDark)
  const at_step = useAtStep()
  const shades = useInnerPhases()
  const last_key = useRef<string>(undefined)
  const key = useStore(uiStore, () => {
    if (is_visible || last_key.current === undefined) last_key.current = tickKey(lines(), must)
    return last_key.current
  })
  const ticks = useMemo(() => key.split(' ').map(Number), [key])
  const y = useMemo<Domain>(() => [ticks[0], ticks[ticks.length - 1]], [ticks])
  const paint = useCallback<Paint>(
    (ctx, view) => {
      paintShades(ctx, shades, view, resolveColor('--accent', is_dark))
      for (const line of lines())
        drawLine(ctx, line.columns, view, {
          color: resolveColor(line.color, is_dark),
          width: line.width ?? 1.5,
          dash: line.dash ?? [],
          dots: false,
        })
      paintStep(ctx, at_step, view, resolveColor('--soft', is_dark))
    },
    [lines, shades, at_step, is_dark],
  )
  const summarise = useCallback(
    () => `${title}. ${read(lines(), at_step, formatValue)}`,
    [title, lines, at_step, formatValue],
  )
  return (
    <div className="step-chart chart">
      <h3>{title}</h3>
      <StepPlot
        id={`${id}-chart`}
        title={title}
        height={height}
        y={y}
        y_ticks={ticks}
        formatY={formatY}
        show_grid
        paint={paint}
        summarise={summarise}
      />
      <StepReadout
        id={`${id}-value`}
        title={title}
        is_visible={is_visible}
        lines={lines}
        formatValue={formatValue}
      />
      {props.children}
    </div>
  )
}

function StepReadout({
  id,
  title,
  is_visible,
  lines,
  formatValue,
}: Pick<StepChartProps, 'id' | 'title' | 'is_visible' | 'lines' | 'formatValue'>) {
  useStore(uiStore, is_visible ? selectFrame : asleep)
  const hover_step = useStore(uiStore, selectHover)
  const at_step = useAtStep()
  const all = lines()
  const longest = all.reduce<Columns | undefined>(
    (best, { columns }) => (best && best.length >= columns.length ? best : columns),
    undefined,
  )
  const step = hover_step ?? at_step
  return (
    <Readout
      id={id}
      label={`Step, in “${title}”`}
      stops={longest ? Array.from(longest.steps).slice(0, longest.length) : []}
      at={step}
      onMove={moveTo}
      text={read(all, step, formatValue)}
    />
  )
}
