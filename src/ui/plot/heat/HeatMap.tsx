// Draws a value of every layer over the steps as a picture: one row for each layer, the first at
// the bottom.
import { type ReactNode, useCallback, useMemo, useRef } from 'react'
import { useStore } from 'zustand'
import { formatNats, formatNumber, NONE } from '../../kit/format.ts'
import type { Columns } from '../../scales/columns.ts'
import type { Domain } from '../../scales/domain.ts'
import { HEAT_RAMP, type Rgb } from '../../scales/palette.ts'
import { lastStep, usePhaseSpans, useStepDomain } from '../../shown/run.ts'
import { type UiState, uiStore } from '../../shown/store.ts'
import { useEditMarks } from '../base/edit_marks.ts'
import { type Paint, Plot } from '../base/Plot.tsx'
import { ChartCard } from '../ChartCard.tsx'
import type { NamedColumns } from '../files/chart_file.ts'
import { drawnColumns } from '../lines/repaint.ts'
import {
  drawEdits,
  drawMarks,
  firstColumn,
  HEAT_REACH,
  hatchReached,
  heatmapPixels,
  rowAt,
  typicalGap,
} from './heat.ts'

const TICKS = 10
/** A step is less than a pixel wide where steps come faster than this. */
const REDRAW_MS = 100

export interface HeatMapProps {
  readonly id: string
  readonly title: string
  readonly note?: string
  readonly testid?: string
  /** One of several in a figure. */
  readonly isPart?: boolean
  readonly file: string
  readonly height: number
  /** The layers of its rows, both included. */
  readonly first: number
  readonly last: number
  /** From the bottom row to the top one; entries that are NaN are gaps. The same function for the
   * same map. */
  readonly columns: () => readonly (Columns | undefined)[]
  /** The rows by the names that files give them. */
  readonly named: () => readonly NamedColumns[]
  /** Value of the darkest colour; 0 is the brightest. */
  readonly scaleMax: number
  /** Colours of the bottom row, where it counts less. */
  readonly firstRamp?: readonly Rgb[]
  /** A layer at the axis. */
  readonly formatRow: (layer: number) => string
  readonly withNames: boolean
  /** Of moments that lie far apart: what lies between them was not measured. */
  readonly isSparse?: boolean
  /** Leaves room for the names of lines, so that it is as wide as the charts beside it. */
  readonly hasGutter?: boolean
  readonly summarise: () => string
  /** What it shows of this run, in a sentence. */
  readonly says?: (() => string) | undefined
  /** The layer under the pointer. */
  readonly onHover: (layer: number | undefined) => void
  readonly foot: ReactNode
}

const selectIsDark = (state: UiState) => state.isDark

/** Paints one pixel for each layer and column, scaled up to the plot, and where phases begin and
 * the run was changed by hand. */
function usePaint({ columns, scaleMax, firstRamp, isSparse }: HeatMapProps): Paint {
  const spans = usePhaseSpans()
  const edits = useEditMarks()
  const strip = useRef<HTMLCanvasElement>(undefined)
  return useCallback<Paint>(
    (ctx, view, pixelRatio, from) => {
      const width = Math.max(1, Math.round(view.width * pixelRatio))
      const first = from === undefined ? 0 : firstColumn(from, view, width)
      const rows = columns()
      const measured = isSparse ? rows.find((row) => row !== undefined) : undefined
      const held = measured && { heldSteps: typicalGap(measured) }
      const size = { width, x: view.x, scale: view.scale, first, reached: lastStep(), ...held }
      const pixels = heatmapPixels(rows, size, scaleMax, HEAT_RAMP, firstRamp)
      // After a crash of the GPU process a canvas that nobody sees is not given back.
      if (strip.current?.getContext('2d')?.isContextLost()) strip.current = undefined
      strip.current ??= document.createElement('canvas')
      strip.current.width = width - first
      strip.current.height = rows.length
      const image = new ImageData(pixels, width - first, rows.length)
      strip.current.getContext('2d')?.putImageData(image, 0, 0)
      hatchReached(ctx, view, lastStep(), from)
      ctx.imageSmoothingEnabled = false
      const left = (first / width) * view.width
      ctx.drawImage(strip.current, left, 0, view.width - left, view.height)
      drawMarks(
        ctx,
        spans.map(({ step }) => step),
        view,
        from,
      )
      drawEdits(ctx, edits, view)
    },
    [columns, scaleMax, firstRamp, isSparse, spans, edits],
  )
}

export function HeatMap(props: HeatMapProps) {
  const { title, first, last, scaleMax, columns, onHover } = props
  const x = useStepDomain()
  const isDark = useStore(uiStore, selectIsDark)
  const paint = usePaint(props)
  const drawn = useCallback(
    () =>
      columns().flatMap((row) =>
        row ? [{ ...drawnColumns(row, undefined, HEAT_REACH), until: lastStep() }] : [],
      ),
    [columns],
  )
  const ticks = useMemo(() => {
    const every = Math.ceil((last + 1 - first) / TICKS)
    return Array.from({ length: last + 1 - first }, (_, i) => first + i).filter(
      (_, i) => i % every === 0,
    )
  }, [first, last])
  const y = useMemo<Domain>(() => [first - 0.5, last + 0.5], [first, last])
  const onHoverY = useCallback(
    (share: number | undefined) =>
      onHover(share === undefined ? undefined : first + rowAt(share, 1, last + 1 - first)),
    [first, last, onHover],
  )
  return (
    <ChartCard
      {...props}
      dataRows={last + 1 - first}
      x={x}
      hasLog={false}
      columns={props.named}
      picture={() => ({
        title: `${title}, 0 to ${formatNats(scaleMax)}; hatched: not measured`,
        yLabel: 'layer',
        keys: [],
        isDark,
      })}
      formatValue={formatNumber}
      plot={({ id, handle }) => (
        <Plot
          id={id}
          title={title}
          handle={handle}
          height={props.height}
          x={x}
          y={y}
          yTicks={ticks}
          formatY={props.formatRow}
          unit="layer"
          withNames={props.withNames}
          hasGutter={props.hasGutter === true}
          showGrid={false}
          paint={paint}
          // A new moment may change how long the others are held: the whole is painted again.
          {...(props.isSparse ? {} : { drawn })}
          redrawMs={REDRAW_MS}
          coversFrame
          summarise={props.summarise}
          onHoverY={onHoverY}
        />
      )}
    />
  )
}

const RAMP_CSS = `linear-gradient(90deg, ${HEAT_RAMP.filter((_, i) => i % 51 === 0)
  .map(([r, g, b]) => `rgb(${r} ${g} ${b})`)
  .join(', ')})`

interface HeatScaleProps {
  readonly max: number
  /** Behind its upper end. */
  readonly words?: string
  /** What 0 means is said nowhere else in sight. */
  readonly saysLeast?: boolean
}

/** What the colours of a heat map mean. */
export function HeatScale({ max, words = '', saysLeast = false }: HeatScaleProps) {
  return (
    <span className="heat-scale">
      <span>{saysLeast ? '0, certain' : '0'}</span>
      <span className="heat-ramp" aria-hidden="true" style={{ backgroundImage: RAMP_CSS }} />
      <span>{max > 0 ? `${formatNumber(max)} nats${words}` : NONE}</span>
      <span className="heat-blank" aria-hidden="true" />
      <span>not measured</span>
    </span>
  )
}
