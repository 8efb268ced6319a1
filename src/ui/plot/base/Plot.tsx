// Draws a plot area: recharts' frame, our canvas on it, and the markers that all plots share.
import { memo, type ReactNode, type RefObject, useEffect, useMemo } from 'react'
import { lazyPart } from '../../part/lazy_part.tsx'
import type { Domain } from '../../scales/domain.ts'
import {
  type EditMark,
  editWordsNear,
  leftOf,
  plotSize,
  rightOf,
  type Size,
  topOf,
} from '../../scales/geometry.ts'
import { type Ideal, shownIdeal } from '../../scales/ideal.ts'
import type { View } from '../../scales/view.ts'
import { usePhaseSpans, useStepScale } from '../../shown/run.ts'
import { useVisible } from '../../shown/visible.ts'
import type { FrameProps } from '../axes/Frame.tsx'
import type { Drawn } from '../lines/repaint.ts'
import { useEditMarks } from './edit_marks.ts'
import {
  BLEED,
  type Paint,
  useCanvas,
  useMarker,
  usePointer,
  useSize,
  useSummary,
  useView,
} from './plot_hooks.ts'

export type { Paint }

const Frame = lazyPart<FrameProps>(async () => (await import('../axes/Frame.tsx')).Frame, {
  name: 'The axes',
  fallback: <div className="plot-skeleton" />,
  className: 'plot-missing',
})

/** Pixels from the screen at which a frame is drawn, so that it is there before a reader has
 * scrolled to it. */
const NEAR = 200

/** recharts takes longer than all else of a plot: far from the screen the frame stays as it was,
 * and at first there is none. */
const NearFrame = memo(
  ({ isNear, ...frame }: FrameProps & { readonly isNear: boolean }) =>
    isNear ? <Frame {...frame} /> : null,
  (_, { isNear }) => !isNear,
)

/** Where a plot lies and what paints it: for pictures of it. */
export interface PlotHandle {
  readonly element: HTMLElement
  readonly view: View
  readonly paint: Paint
}

export interface PlotProps {
  readonly id: string
  readonly title: string
  /** Least height; the plot grows with its card. */
  readonly height: number
  readonly x: Domain
  readonly y: Domain
  readonly yTicks: readonly number[]
  readonly logX?: boolean
  readonly logY?: boolean
  readonly formatY: (value: number) => string
  readonly unit?: string | undefined
  readonly withNames: boolean
  /** Leaves room for the names of lines at the right, where there is any. */
  readonly hasGutter?: boolean
  readonly showGrid: boolean
  /** A band behind the lines. */
  readonly ideal?: Ideal
  /** A new function means new contents. */
  readonly paint: Paint
  /** What is painted hides the frame, and shows the edits itself. */
  readonly coversFrame?: boolean
  /** What is painted, where only what grew is to be painted again at a frame. */
  readonly drawn?: ((view: View) => readonly Drawn[]) | undefined
  /** How long a picture stays as it is while the run grows; 0 by default, for every frame. */
  readonly redrawMs?: number | undefined
  /** What a person hears instead of the picture. */
  readonly summarise: () => string
  /** Height share 0…1 from the top under the pointer; undefined when it left. */
  readonly onHoverY?: ((share: number | undefined) => void) | undefined
  /** What is drawn over the picture, in the same view. */
  readonly over?: ((view: View) => ReactNode) | undefined
  readonly handle: RefObject<PlotHandle | null>
}

const NO_EDITS: readonly EditMark[] = []

/** What is painted, with the markers over it, and what the pointer does there. */
function Area(
  props: Pick<PlotProps, 'paint' | 'drawn' | 'redrawMs' | 'onHoverY' | 'coversFrame'> & {
    readonly view: View
    readonly edits: readonly EditMark[]
  },
) {
  const { view, edits, paint, drawn, redrawMs = 0, onHoverY } = props
  const { width, height } = view
  const canvas = useCanvas(paint, view, drawn, redrawMs)
  const crosshair = useMarker('hoverStep', view)
  const cursor = useMarker('atStep', view)
  const { selection, handlers } = usePointer(view, onHoverY)
  return (
    <div
      className={props.coversFrame ? 'plot-area covered' : 'plot-area'}
      style={{ left: view.left, top: view.top, width, height }}
      {...handlers}
      onPointerMove={(event) => {
        handlers.onPointerMove(event)
        // The words at a mark may be cut, and they lie below the canvas.
        const at = event.clientX - event.currentTarget.getBoundingClientRect().left
        const near = editWordsNear(edits, at, view)
        if (event.currentTarget.title !== near) event.currentTarget.title = near
      }}
    >
      <canvas
        ref={canvas}
        style={{ inset: -BLEED, width: width + 2 * BLEED, height: height + 2 * BLEED }}
      />
      <div ref={selection} className="selection" hidden />
      <div ref={cursor} className="cursor" hidden />
      <div ref={crosshair} className="crosshair" hidden />
    </div>
  )
}

/** Where a plot lies in its card. */
function useLayout(props: PlotProps, size: Size, edits: readonly EditMark[]) {
  const { x, y, logX = false, logY = false, yTicks, formatY } = props
  const right = rightOf(size.width, props.hasGutter === true)
  const left = useMemo(() => leftOf(yTicks.map(formatY)), [yTicks, formatY])
  const top = topOf(edits)
  const phases = useStepScale()
  const scale = logX ? undefined : phases
  const plot = plotSize(size, right, left, top)
  return useView({ x, y, logX, logY, scale, right, left, top, ...plot })
}

/** A card may render with every step; its axes must not, so pass the same functions and arrays
 * while nothing but the data changes. */
export const Plot = memo(function Plot(props: PlotProps) {
  const { id, x, y, logX = false, logY = false, paint, coversFrame = false, handle } = props
  const { ref, size } = useSize()
  const isNear = useVisible(ref, NEAR)
  const spans = usePhaseSpans()
  const edits = useEditMarks()
  const framed = coversFrame ? NO_EDITS : edits
  const view = useLayout(props, size, framed)
  const { right, left, top } = view
  const words = useSummary(props.summarise)
  useEffect(() => {
    if (ref.current) handle.current = { element: ref.current, view, paint }
  }, [ref, handle, view, paint])
  return (
    <div ref={ref} className="plot" style={{ flexBasis: props.height }}>
      <div
        role="img"
        aria-label={props.title}
        aria-describedby={`${id}-summary`}
        id={id}
        data-testid={id}
        data-steps={`${x[0]} ${x[1]}`}
      >
        {size.width > 0 ? (
          <NearFrame
            isNear={isNear}
            size={size}
            right={right}
            left={left}
            top={top}
            x={x}
            y={y}
            yTicks={props.yTicks}
            logX={logX}
            scale={view.scale}
            logY={logY}
            formatY={props.formatY}
            unit={props.unit}
            spans={spans}
            edits={framed}
            withNames={props.withNames}
            showGrid={props.showGrid}
            ideal={props.ideal && shownIdeal(props.ideal, y)}
          />
        ) : null}
        <Area
          view={view}
          edits={edits}
          paint={paint}
          drawn={props.drawn}
          redrawMs={props.redrawMs}
          onHoverY={props.onHoverY}
          coversFrame={coversFrame}
        />
      </div>
      {/* Not in the picture: a picture holds nothing that one can press. */}
      {props.over && (
        <div className="line-labels" style={{ left, top }}>
          {props.over(view)}
        </div>
      )}
      <p ref={words} id={`${id}-summary`} className="visually-hidden" />
    </div>
  )
})
