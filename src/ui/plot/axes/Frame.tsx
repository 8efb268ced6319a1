// Draws what recharts draws: axes, grid, phase shades and markers. The lines lie on a canvas above
// it.
import {
  CartesianGrid,
  Line,
  LineChart,
  ReferenceArea,
  ReferenceLine,
  XAxis,
  YAxis,
} from 'recharts'
import { t } from '../../kit/translator.ts'
import { type Domain, logStepTicks, stepTicks } from '../../scales/domain.ts'
import {
  EDIT_ROW,
  type EditMark,
  editLabels,
  INSET,
  markerLabels,
  type PhaseSpan,
  plotSize,
  type Size,
} from '../../scales/geometry.ts'
import {
  placeOf,
  type StepScale,
  scaleBreaks,
  scaledTicks,
  stepAtPlace,
} from '../../scales/step_scale.ts'
import { textWidth } from '../../scales/text_width.ts'
import { stepPixel } from '../../scales/view.ts'

export interface FrameProps {
  readonly size: Size
  /** Pixels right of the plot area. */
  readonly right: number
  /** Pixels left of it. */
  readonly left: number
  /** Pixels above it. */
  readonly top: number
  readonly x: Domain
  readonly y: Domain
  readonly yTicks: readonly number[]
  readonly logX: boolean
  readonly logY: boolean
  /** Of phases of equal width; undefined for an even or a logarithmic axis. */
  readonly scale: StepScale | undefined
  readonly formatY: (value: number) => string
  /** What the values are in, where their text does not say it. */
  readonly unit?: string | undefined
  readonly spans: readonly PhaseSpan[]
  /** Changes made while the run went on. */
  readonly edits: readonly EditMark[]
  /** Phase names at their markers; else numbers only. */
  readonly withNames: boolean
  readonly showGrid: boolean
  /** From where to where values are as they should be, inside the axis. */
  readonly ideal?: Domain | undefined
}

/** The grid's own is -100. */
const BEHIND_GRID = -101
/** Of all texts; the widths in scales/geometry.ts are this font's. A larger one has no room for
 * “100 %” left of a plot. */
const FONT = 11
const TICK = { fill: 'var(--soft)', fontSize: FONT }
const AXIS_LINE = { stroke: 'var(--line)' }
const formatStep = (step: number) => step.toLocaleString('en')

/** The phases of demonstrations as shades behind everything. */
function phaseShades(spans: readonly PhaseSpan[], x: Domain) {
  const shown = spans.filter(({ step, end }) => end > x[0] && step < x[1])
  return shown.map((span) =>
    span.isSft ? (
      <ReferenceArea
        key={`shade ${span.step} ${span.number}`}
        x1={Math.max(span.step, x[0])}
        x2={Math.min(span.end, x[1])}
        fill="var(--sft)"
        fillOpacity={1}
        stroke="none"
        ifOverflow="hidden"
      />
    ) : null,
  )
}

const isInside =
  (x: Domain) =>
  ({ step }: { readonly step: number }) =>
    step >= x[0] && step <= x[1]

/** Where phases begin, with their numbers or names where there is room. */
function phaseMarks({ spans, x, logX, withNames, top, edits }: FrameProps, width: number) {
  const marked = spans.filter(isInside(x))
  // Room between marks is reckoned on an even axis.
  const labels = markerLabels(marked, x, width, withNames && !logX)
  return marked.map((span, i) => (
    <ReferenceLine
      key={`mark ${span.step} ${span.number}`}
      x={span.step}
      stroke="var(--marker)"
      strokeDasharray={span.step === x[0] ? '0 1' : '3 3'}
      ifOverflow="hidden"
      label={({ viewBox }: { viewBox?: { x?: number; y?: number } }) => (
        <text
          x={(viewBox?.x ?? 0) + (span.step === x[0] ? 0 : 3)}
          y={top - 6 - (edits.length > 0 ? EDIT_ROW : 0)}
          fill="var(--soft)"
          fontSize={FONT}
        >
          {labels[i]}
        </text>
      )}
    />
  ))
}

/** Where the run was changed by hand, in words above the plot, where no line is. */
function editMarks({ edits, x, top }: FrameProps, width: number) {
  const edited = edits.filter(isInside(x))
  const labelsOfEdits = editLabels(edited, x, width)
  return edited.map(({ step, words }, i) => (
    <ReferenceLine
      key={`edit ${step} ${words}`}
      x={step}
      stroke="var(--series-3)"
      strokeDasharray="1 3"
      strokeWidth={1.5}
      ifOverflow="hidden"
      label={({ viewBox }: { viewBox?: { x?: number } }) => (
        <text
          className="edit-mark"
          x={(viewBox?.x ?? 0) + (labelsOfEdits[i].isBefore ? -4 : 4)}
          textAnchor={labelsOfEdits[i].isBefore ? 'end' : 'start'}
          y={top - 6}
          fill="var(--series-3)"
          fontSize={FONT}
        >
          <title>{words}</title>
          {labelsOfEdits[i].text}
        </text>
      )}
    />
  ))
}

const idealBand = ({ ideal }: FrameProps) =>
  ideal ? (
    <ReferenceArea
      className="ideal-band"
      zIndex={BEHIND_GRID}
      y1={ideal[0]}
      y2={ideal[1]}
      fill="var(--ideal)"
      fillOpacity={1}
      stroke="none"
      ifOverflow="hidden"
    />
  ) : null

/** The same frame with everything at its place on the scale, where recharts' even axis then draws
 * it. */
function placed(props: FrameProps): FrameProps {
  const { scale, x, spans, edits } = props
  if (!scale) return props
  const at = (step: number) => placeOf(step, scale)
  return {
    ...props,
    x: [at(x[0]), at(x[1])],
    spans: spans.map((span) => ({ ...span, step: at(span.step), end: at(span.end) })),
    edits: edits.map((edit) => ({ ...edit, step: at(edit.step) })),
  }
}

/** Two strokes across the axis wherever its scale changes. */
function breakMarks({ size, right, left, top, x, scale }: FrameProps) {
  const plot = plotSize(size, right, left, top)
  const view = { x, scale, width: plot.width }
  const bottom = top + plot.height
  return scaleBreaks(scale, x).map((step) => {
    const at = left + stepPixel(step, view)
    return (
      <path
        key={`break ${step}`}
        className="axis-break"
        d={`M${at - 5} ${bottom + 4}l4 -8M${at + 1} ${bottom + 4}l4 -8`}
        stroke="var(--ink)"
        strokeWidth={1.5}
        fill="none"
      />
    )
  })
}

/** What the axes count, in the corners: left of the first tick, which reaches so far. */
function axisNames({ size, left, top, unit }: FrameProps, reach: number) {
  const words = {
    x: left - 6,
    textAnchor: 'end',
    fill: 'var(--soft)',
    fontSize: FONT,
  } as const
  return (
    <>
      <text {...words} x={left - 3 - Math.max(3, reach)} y={size.height - 6}>
        step
      </text>
      {unit === undefined ? null : (
        <text {...words} y={top - 8}>
          {unit}
        </text>
      )}
    </>
  )
}

/** Pixels that the first step, which is written around its place, reaches left of the plot. */
function reachOf({ x: [low, high] }: FrameProps, at: number, says: string, width: number): number {
  return textWidth(says) / 2 - (width * (at - low)) / (high - low)
}

/** Where steps are written, in the units of the axis. */
function xTicks({ x, logX, scale }: FrameProps, width: number): number[] {
  if (scale) return scaledTicks(x, scale, width).map((step) => placeOf(step, scale))
  const count = Math.max(2, Math.floor(width / 70))
  return logX ? logStepTicks(x, count) : stepTicks(x, count)
}

/** The still part of a plot. Redrawn when a domain, the size or the phases change, not with every
 * step. */
export function Frame(frame: FrameProps) {
  const props = placed(frame)
  const { size, right, left, top, x, y, yTicks, logX, logY, scale, formatY, spans, showGrid } =
    props
  const plot = plotSize(size, right, left, top)
  const ticks = xTicks(frame, plot.width)
  const tickText = (at: number) => formatStep(Math.round(stepAtPlace(at, scale)))
  // recharts makes no y scale without a graphical item: one invisible line through two corners.
  const corners = [
    { step: x[0], value: y[0] },
    { step: x[1], value: y[1] },
  ]
  return (
    <LineChart
      width={size.width}
      height={size.height}
      data={corners}
      margin={{ top, right, bottom: 0, left: 0 }}
      accessibilityLayer={false}
    >
      {phaseShades(spans, x)}
      {idealBand(props)}
      {showGrid ? <CartesianGrid vertical={false} stroke="var(--line)" /> : null}
      <XAxis
        dataKey="step"
        type="number"
        scale={logX ? 'log' : 'linear'}
        domain={[x[0], x[1]]}
        ticks={ticks}
        tickFormatter={tickText}
        height={INSET.bottom}
        tick={TICK}
        axisLine={AXIS_LINE}
        tickLine={false}
        interval="preserveStart"
        allowDataOverflow
      />
      <YAxis
        type="number"
        scale={logY ? 'log' : 'linear'}
        domain={[y[0], y[1]]}
        ticks={[...yTicks]}
        tickFormatter={(value: number) => t(formatY(value))}
        width={left}
        tick={TICK}
        axisLine={false}
        tickLine={false}
        interval={0}
        allowDataOverflow
      />
      {phaseMarks(props, plot.width)}
      {editMarks(props, plot.width)}
      {breakMarks(frame)}
      {axisNames(
        frame,
        ticks.length > 0 ? reachOf(props, ticks[0], tickText(ticks[0]), plot.width) : 0,
      )}
      <Line dataKey="value" stroke="none" dot={false} legendType="none" isAnimationActive={false} />
    </LineChart>
  )
}
