// Draws lines over the run's steps on the page's common step axis, with phases shaded and the shown
// step marked.
import { type ReactNode, useCallback, useMemo } from 'react'
import { useStore } from 'zustand'
import { thinnedOf, thinnedWords } from '../../../host/columns/thinning.ts'
import type { LabState } from '../../../page/state/store.ts'
import { formatTick } from '../../kit/format.ts'
import { unitOf } from '../../plot/axes/unit.ts'
import { useAxes, useValueAxis } from '../../plot/axes/use_axes.ts'
import { type Paint, Plot } from '../../plot/base/Plot.tsx'
import { ChartCard } from '../../plot/ChartCard.tsx'
import { leftOutWords } from '../../plot/chart_lines.ts'
import { drawnOf, drawStrokes, type Stroke } from '../../plot/lines/strokes.ts'
import { Readout } from '../../plot/Readout.tsx'
import { boundsIn, ticksOf } from '../../scales/bounds.ts'
import { type Columns, indexAt, stepsOf } from '../../scales/columns.ts'
import { resolveColor } from '../../scales/css_colors.ts'
import type { Domain } from '../../scales/domain.ts'
import { stepPixel, type View } from '../../scales/view.ts'
import { readStep } from '../../shown/readout.ts'
import { shownPhases, useLastLayer } from '../../shown/run.ts'
import { useAtStep, useShown } from '../../shown/shown.ts'
import { type UiState, uiStore } from '../../shown/store.ts'

/** Of a line that says nothing else. */
const WIDTH = 1.5

export interface StepLine {
  readonly key: string
  readonly label: string
  /** A token such as '--series-1', or any CSS colour. */
  readonly color: string
  readonly width?: number
  readonly dash?: readonly number[]
  readonly columns: Columns
  /** It is measured now and then: its points are marked. */
  readonly hasDots?: boolean
  /** Drawn, but not read out: there are too many. */
  readonly isQuiet?: boolean
}

export interface StepChartProps {
  readonly id: string
  readonly title: string
  /** Whether it is in view: out of view nothing is computed. */
  readonly isVisible: boolean
  /** Asked at each redraw; a new function means other lines. */
  readonly lines: () => readonly StepLine[]
  /** Values that the axis always holds. */
  readonly must: readonly number[]
  readonly formatValue: (value: number | undefined) => string
  /** Below the plot. */
  readonly children?: ReactNode
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
  const lastLayer = useLastLayer()
  return useMemo(
    () =>
      switches.flatMap(({ step, phase }, i) => {
        const one = phases[phase]
        if (!one || !('target_layer' in one) || one.target_layer === lastLayer) return []
        return [{ from: step, to: switches[i + 1]?.step ?? step + one.steps }]
      }),
    [switches, phases, lastLayer],
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
    // Step 0 is no place on a logarithmic axis.
    const left = Math.max(0, stepPixel(Math.max(from, view.x[0]), view))
    const right = Math.min(view.width, stepPixel(to, view))
    if (right > left) ctx.fillRect(left, 0, right - left, view.height)
  }
  ctx.restore()
}

const selectIsDark = ({ isDark }: UiState) => isDark
const moveTo = (hoverStep: number | undefined) => uiStore.setState({ hoverStep })

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
    .filter(({ isQuiet }) => !isQuiet)
    .map(({ label, columns }) => `${label}: ${format(valueAt(columns, step))}`)
  const measured = lines.flatMap(({ columns }) => {
    const index = indexUntil(columns, step)
    return index < 0 ? [] : [columns.steps[index]]
  })
  if (measured.length === 0) return step === undefined ? 'Nothing measured yet.' : `Step ${step}: –`
  return `Step ${Math.max(...measured)}. ${values.join('; ')}`
}

const TICKS = 4
/** Least height of a plot. */
const HEIGHT = 190

/** Its lines as strokes, files and legends take them. */
function strokesOf(lines: readonly StepLine[], isDark: boolean): Stroke[] {
  return lines.map(({ columns, color, width = WIDTH, dash = [], hasDots = false }) => ({
    kind: 'line',
    columns,
    style: { color: resolveColor(color, isDark), width, dash, dots: hasDots },
  }))
}

/** What each line looks like, for the legend of a picture. */
const keysOf = (lines: readonly StepLine[]) =>
  lines.flatMap(({ label, color, width = WIDTH, dash = [], isQuiet }) =>
    isQuiet ? [] : [{ label, color, width, dash }],
  )

/** The value axis of a chart that is in view; one that is not keeps what it had. */
function useTicks({ isVisible, lines, must }: StepChartProps, x: Domain, logY: boolean) {
  return useValueAxis(() => {
    if (!isVisible) return undefined
    const bounds = boundsIn(
      lines().map(({ columns }) => columns),
      x,
    )
    const ticks = ticksOf(bounds, undefined, logY, TICKS, must)
    const thinned = thinnedWords(thinnedOf(lines().map(({ columns }) => columns)))
    return { ticks, notPositive: logY ? bounds.notPositive : 0, thinned }
  })
}

/** What the chart draws, and how. */
function usePainting(lines: StepChartProps['lines'], isDark: boolean) {
  const shades = useInnerPhases()
  const strokes = useCallback(() => strokesOf(lines(), isDark), [lines, isDark])
  const paint = useCallback<Paint>(
    (ctx, view, _, from) => {
      paintShades(ctx, shades, view, resolveColor('--accent', isDark))
      drawStrokes(ctx, strokes(), view, from)
    },
    [strokes, shades, isDark],
  )
  const drawn = useCallback((view: View) => drawnOf(strokes(), view), [strokes])
  return { strokes, paint, drawn }
}

export function StepChart(props: StepChartProps) {
  const { id, title, isVisible, lines, formatValue } = props
  const chart = `${id}-chart`
  const isDark = useStore(uiStore, selectIsDark)
  const atStep = useAtStep()
  const { x, logX, logY } = useAxes(chart)
  const axis = useTicks(props, x, logY)
  const { strokes, paint, drawn } = usePainting(lines, isDark)
  const summarise = useCallback(
    () => `${title}. ${read(lines(), atStep, formatValue)}`,
    [title, lines, atStep, formatValue],
  )
  return (
    <ChartCard
      id={chart}
      title={title}
      isPart
      file={id}
      x={x}
      hasLog
      leftOut={`${leftOutWords(axis.notPositive, logX)} ${axis.thinned}`.trim()}
      columns={() => lines().map(({ label, columns }) => ({ name: label, columns }))}
      picture={() => ({ title, yLabel: title, isDark, keys: keysOf(lines()) })}
      strokes={strokes}
      formatValue={formatValue}
      plot={({ id, handle }) => (
        <Plot
          id={id}
          title={title}
          handle={handle}
          height={HEIGHT}
          x={x}
          y={axis.y}
          yTicks={axis.ticks}
          logX={logX}
          logY={logY}
          formatY={formatTick}
          unit={unitOf(title)}
          withNames={false}
          showGrid
          paint={paint}
          drawn={drawn}
          summarise={summarise}
        />
      )}
      foot={
        <>
          <StepReadout
            id={`${id}-value`}
            title={title}
            isVisible={isVisible}
            lines={lines}
            formatValue={formatValue}
          />
          {props.children}
        </>
      }
    />
  )
}

function StepReadout({
  id,
  title,
  isVisible,
  lines,
  formatValue,
}: Pick<StepChartProps, 'id' | 'title' | 'isVisible' | 'lines' | 'formatValue'>) {
  const readOut = useCallback(() => {
    if (!isVisible) return undefined
    const [all, step] = [lines(), readStep()]
    const longest = all.reduce<Columns | undefined>(
      (best, { columns }) => (best && best.length >= columns.length ? best : columns),
      undefined,
    )
    return {
      stops: longest ? stepsOf(longest) : [],
      at: step,
      text: read(all, step, formatValue),
    }
  }, [isVisible, lines, formatValue])
  return <Readout id={id} label={`Step, in “${title}”`} read={readOut} onMove={moveTo} />
}
