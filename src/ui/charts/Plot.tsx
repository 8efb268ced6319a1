// A plot area: recharts' frame, our canvas on it, and the crosshair that all plots share.
import { lazy, type PointerEvent, Suspense, useEffect, useRef, useState } from 'react'
import { useStore } from 'zustand'
import { lastStep, useEditMarks, usePhaseSpans, useStepDomain } from '../run.ts'
import { uiStore } from '../store.ts'
import type { Domain } from './domain.ts'
import { INSET, plotSize, type Size } from './geometry.ts'
import { toPixel, type View } from './lines.ts'

const Frame = lazy(() => import('./Frame.tsx').then((module) => ({ default: module.Frame })))

/** The canvas reaches this far beyond the plot area, so that dots and lines on its edge stay whole. */
const BLEED = 4
const bled = ({ width, height }: Size): Size => ({
  width: width + 2 * BLEED,
  height: height + 2 * BLEED,
})

export type Paint = (ctx: CanvasRenderingContext2D, view: View, pixel_ratio: number) => void

export interface PlotProps {
  readonly id: string
  /** Least height; the plot grows with its card. */
  readonly height: number
  readonly y: Domain
  readonly y_ticks: readonly number[]
  readonly formatY: (value: number) => string
  readonly with_names: boolean
  readonly show_grid: boolean
  /** Draws on a cleared canvas; a new function means new contents. */
  readonly paint: Paint
  /** What a person hears instead of the picture; asked at each redraw. */
  readonly summarise: () => string
  /** Height share 0…1 from the top under the pointer; undefined when it left. */
  readonly onHoverY?: (share: number | undefined) => void
}

/** Size of an element, followed. */
function useSize() {
  const ref = useRef<HTMLDivElement>(null)
  const [size, setSize] = useState<Size>({ width: 0, height: 0 })
  useEffect(() => {
    const element = ref.current
    if (!element) return
    const observer = new ResizeObserver(([{ contentRect }]) =>
      setSize({ width: Math.floor(contentRect.width), height: Math.floor(contentRect.height) }),
    )
    observer.observe(element)
    return () => observer.disconnect()
  }, [])
  return { ref, size }
}

/** Repaints on every frame of the ticker while on screen, and when `paint` or the view changes. */
function useCanvas(paint: Paint, view: View, summarise: () => string) {
  const canvas = useRef<HTMLCanvasElement>(null)
  const picture = useRef<HTMLDivElement>(null)
  const is_dark = useStore(uiStore, (state) => state.is_dark)
  const { width, height } = view
  const [x_low, x_high] = view.x
  const [y_low, y_high] = view.y
  useEffect(() => {
    const element = canvas.current
    const ctx = element?.getContext('2d')
    if (!element || !ctx || width === 0 || height === 0) return
    let on_screen = true
    void is_dark // colours changed: paint again
    const draw = () => {
      if (!on_screen) return
      const ratio = globalThis.devicePixelRatio || 1
      const [w, h] = [
        Math.round((width + 2 * BLEED) * ratio),
        Math.round((height + 2 * BLEED) * ratio),
      ]
      if (element.width !== w) element.width = w
      if (element.height !== h) element.height = h
      ctx.setTransform(ratio, 0, 0, ratio, BLEED * ratio, BLEED * ratio)
      ctx.clearRect(-BLEED, -BLEED, width + 2 * BLEED, height + 2 * BLEED)
      // What lies before the first shown step stays hidden behind the axis.
      ctx.save()
      ctx.beginPath()
      ctx.rect(x_low > 0 ? 0 : -BLEED, -BLEED, width + 2 * BLEED, height + 2 * BLEED)
      ctx.clip()
      paint(ctx, { x: [x_low, x_high], y: [y_low, y_high], width, height }, ratio)
      ctx.restore()
      picture.current?.setAttribute('aria-label', summarise())
    }
    draw()
    const stop = uiStore.subscribe((now, before) => {
      if (now.frame !== before.frame) draw()
    })
    const observer = new IntersectionObserver(([entry]) => {
      const appeared = entry.isIntersecting && !on_screen
      on_screen = entry.isIntersecting
      if (appeared) draw()
    })
    observer.observe(element)
    // A crash of the GPU process takes every picture with it.
    element.addEventListener('contextrestored', draw)
    return () => {
      stop()
      observer.disconnect()
      element.removeEventListener('contextrestored', draw)
    }
  }, [paint, summarise, width, height, x_low, x_high, y_low, y_high, is_dark])
  return { canvas, picture }
}

/** Moves the crosshair without rendering anything. */
function useCrosshair(x: Domain, width: number) {
  const line = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const place = (step: number | undefined) => {
      const element = line.current
      if (!element) return
      element.hidden = step === undefined || step < x[0]
      if (step === undefined) return
      const at = toPixel(step, x, width)
      element.style.transform = `translateX(${at}px)`
      element.dataset.step = `step ${step}`
      // The label stays inside the plot.
      element.classList.toggle('flipped', at > width / 2)
    }
    place(uiStore.getState().hover_step)
    return uiStore.subscribe((now, before) => {
      if (now.hover_step !== before.hover_step) place(now.hover_step)
    })
  }, [x, width])
  return line
}

export function Plot(props: PlotProps) {
  const { ref, size } = useSize()
  const x = useStepDomain()
  const spans = usePhaseSpans()
  const edits = useEditMarks()
  const plot = plotSize(size)
  const { canvas, picture } = useCanvas(props.paint, { x, y: props.y, ...plot }, props.summarise)
  const crosshair = useCrosshair(x, plot.width)
  const hover = (event: PointerEvent<HTMLDivElement>) => {
    const box = event.currentTarget.getBoundingClientRect()
    const share = (event.clientX - box.left) / box.width
    const step = Math.round(x[0] + share * (x[1] - x[0]))
    uiStore.setState({ hover_step: Math.min(lastStep(), Math.max(0, step)) })
    props.onHoverY?.((event.clientY - box.top) / box.height)
  }
  const leave = () => {
    uiStore.setState({ hover_step: undefined })
    props.onHoverY?.(undefined)
  }
  return (
    <div ref={ref} className="plot" style={{ flexBasis: props.height }}>
      <div
        ref={picture}
        role="img"
        aria-label={props.summarise()}
        id={props.id}
        data-testid={props.id}
      >
        {size.width > 0 ? (
          <Suspense fallback={<div className="plot-skeleton" />}>
            <Frame
              size={size}
              x={x}
              y={props.y}
              y_ticks={props.y_ticks}
              formatY={props.formatY}
              spans={spans}
              edits={edits}
              with_names={props.with_names}
              show_grid={props.show_grid}
            />
          </Suspense>
        ) : null}
        <div
          className="plot-area"
          style={{ left: INSET.left, top: INSET.top, ...plot }}
          onPointerMove={hover}
          onPointerLeave={leave}
          onPointerCancel={leave}
        >
          <canvas ref={canvas} style={{ inset: -BLEED, ...bled(plot) }} />
          <div ref={crosshair} className="crosshair" hidden />
        </div>
      </div>
    </div>
  )
}
