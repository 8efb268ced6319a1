// Does a plot's work without rendering: measures its size, paints, moves its markers, and lets a
// person drag a range of steps.
import { type PointerEvent, type RefObject, useEffect, useMemo, useRef, useState } from 'react'
import { useStore } from 'zustand'
import { pointing } from '../../kit/input/pointing.ts'
import { t } from '../../kit/translator.ts'
import { showAllSteps } from '../../open/scrub.ts'
import type { Size } from '../../scales/geometry.ts'
import { pixelStep, stepPixel, type View } from '../../scales/view.ts'
import { zoomBetween } from '../../scales/zoom.ts'
import { lastDrawnStep } from '../../shown/run.ts'
import { type UiState, uiStore } from '../../shown/store.ts'
import { clearedFrom, type Drawn, staleFrom } from '../lines/repaint.ts'

/** The canvas reaches this far beyond the plot area, so that dots and lines on its edge stay
 * whole. */
export const BLEED = 4

/** Draws on a cleared canvas; `from`: only what lies right of this pixel was cleared, and nothing
 * left of it can be drawn on. */
export type Paint = (
  ctx: CanvasRenderingContext2D,
  view: View,
  pixelRatio: number,
  from?: number,
) => void

/** How often the words that describe a picture are updated. */
const SUMMARY_MS = 1000
/** A shorter drag is a click. */
const MIN_DRAG = 6

/** Size of an element, followed. */
export function useSize() {
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

/** With the room around the plot. */
type PlacedView = View & Required<Pick<View, 'right' | 'left' | 'top'>>

/** The same view as long as its numbers are the same. */
export function useView(view: View): PlacedView {
  const [x0, x1] = view.x
  const [y0, y1] = view.y
  const { width, height, right = 0, left = 0, top = 0, logX = false, logY = false, scale } = view
  return useMemo(
    () => ({ x: [x0, x1], y: [y0, y1], width, height, right, left, top, logX, logY, scale }),
    [x0, x1, y0, y1, width, height, right, left, top, logX, logY, scale],
  )
}

const selectIsDark = (state: UiState) => state.isDark

/** Paints a view on a canvas, and after that only the part that has changed; all of it after
 * `forget`. */
function pictureOn(
  ctx: CanvasRenderingContext2D,
  paint: Paint,
  view: View,
  drawn: ((view: View) => readonly Drawn[]) | undefined,
) {
  const { canvas } = ctx
  const { width, height } = view
  let before: readonly Drawn[] | undefined
  let end = 0
  const forget = () => {
    before = undefined
  }
  const redraw = () => {
    const ratio = globalThis.devicePixelRatio || 1
    const [w, h] = [width + 2 * BLEED, height + 2 * BLEED].map((side) => Math.round(side * ratio))
    if (canvas.width !== w || canvas.height !== h) {
      canvas.width = w
      canvas.height = h
      forget()
    }
    const [, right] = clipOf(view)
    if (right !== end) forget()
    end = right
    const now = drawn?.(view)
    const stale = now ? staleFrom(before, now, view) : Number.NEGATIVE_INFINITY
    before = now
    if (stale >= right) return
    const from = clearedFrom(stale, BLEED, ratio)
    const left = from ?? -BLEED
    ctx.setTransform(ratio, 0, 0, ratio, BLEED * ratio, BLEED * ratio)
    ctx.clearRect(left, -BLEED, width + BLEED - left, height + 2 * BLEED)
    ctx.save()
    clipTo(ctx, view, left)
    paint(ctx, view, ratio, from)
    ctx.restore()
  }
  return { forget, redraw }
}

/** Calls `draw` at once, but no sooner than `ms` after the last call: then what comes meanwhile is
 * one call at the end of that time. */
export function atMostEvery(ms: number, draw: () => void) {
  let last = Number.NEGATIVE_INFINITY
  let timer: ReturnType<typeof setTimeout> | undefined
  const now = () => {
    clearTimeout(timer)
    timer = undefined
    last = performance.now()
    draw()
  }
  return {
    call: () => {
      const left = last + ms - performance.now()
      if (left <= 0) now()
      else timer ??= setTimeout(now, left)
    },
    cancel: () => clearTimeout(timer),
  }
}

/** Repaints on every frame of the ticker while on screen, no sooner than `redrawMs` after the last
 * time, and when `paint` or the view changes. With `drawn`, which says what the picture is made of,
 * a frame repaints only the part that grew. */
export function useCanvas(
  paint: Paint,
  view: View,
  drawn: ((view: View) => readonly Drawn[]) | undefined,
  redrawMs: number,
): RefObject<HTMLCanvasElement | null> {
  const canvas = useRef<HTMLCanvasElement>(null)
  const isDark = useStore(uiStore, selectIsDark)
  const [thrown, setThrown] = useState<{ readonly error: unknown }>()
  // Only what is thrown while React renders reaches the part's boundary.
  if (thrown) throw thrown.error
  useEffect(() => {
    const element = canvas.current
    const ctx = element?.getContext('2d')
    if (!element || !ctx || view.width === 0 || view.height === 0) return
    void isDark // colours changed: paint again
    const picture = pictureOn(ctx, paint, view, drawn)
    let onScreen = true
    // An error must not keep the frame from those who subscribed after this.
    const draw = () => {
      if (!onScreen) return
      try {
        picture.redraw()
      } catch (error) {
        setThrown({ error })
      }
    }
    const drawAll = () => {
      picture.forget()
      draw()
    }
    draw()
    const frames = atMostEvery(redrawMs, draw)
    const stop = uiStore.subscribe((now, before) => {
      if (now.frame !== before.frame) frames.call()
    })
    const observer = new IntersectionObserver(([entry]) => {
      const appeared = entry.isIntersecting && !onScreen
      onScreen = entry.isIntersecting
      if (appeared) draw()
    })
    observer.observe(element)
    // A crash of the GPU process takes every picture with it.
    element.addEventListener('contextrestored', drawAll)
    return () => {
      stop()
      frames.cancel()
      observer.disconnect()
      element.removeEventListener('contextrestored', drawAll)
    }
  }, [paint, view, drawn, redrawMs, isDark])
  return canvas
}

/** Left and right end of what is drawn: what lies before and after the shown steps stays hidden
 * behind the axes. */
const clipOf = ({ x, width }: View): readonly [number, number] => [
  x[0] > 0 ? 0 : -BLEED,
  x[1] < lastDrawnStep() ? width : width + BLEED,
]

/** Hides what lies behind the axes, and left of a pixel; dots on an edge stay whole. */
export function clipTo(ctx: CanvasRenderingContext2D, view: View, from = -BLEED): void {
  const [left, right] = clipOf(view)
  const start = Math.max(left, from)
  ctx.beginPath()
  ctx.rect(start, -BLEED, Math.max(0, right - start), view.height + 2 * BLEED)
  ctx.clip()
}

/** Keeps the words for a picture near the truth, without asking for them at every frame. */
export function useSummary(summarise: () => string): RefObject<HTMLParagraphElement | null> {
  const words = useRef<HTMLParagraphElement>(null)
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const write = () => {
      timer = undefined
      const text = t(summarise())
      if (words.current && words.current.textContent !== text) words.current.textContent = text
    }
    write()
    const stop = uiStore.subscribe((now, before) => {
      if (timer === undefined && (now.frame !== before.frame || now.atStep !== before.atStep))
        timer = setTimeout(write, SUMMARY_MS)
    })
    return () => {
      stop()
      clearTimeout(timer)
    }
  }, [summarise])
  return words
}

/** How wide a character of the label is, at most, and half a number of the axis. */
const LETTER = 7
const HALF_TICK = 14
/** Those of the other axis end at it. */
const X_TICKS = '.recharts-cartesian-axis-tick-value[text-anchor="middle"]'

/** No number of the axis is half covered by the label of a marker: those below it are not seen. */
function uncover(line: HTMLElement, view: View, at: number): void {
  const width = LETTER * (line.dataset.step?.length ?? 0)
  const middle = (view.left ?? 0) + at + (at > view.width / 2 ? -width / 2 : width / 2)
  const reach = width / 2 + HALF_TICK
  for (const number of line.closest('.plot')?.querySelectorAll<SVGElement>(X_TICKS) ?? []) {
    const isBelow = Math.abs(Number(number.getAttribute('x')) - middle) < reach
    number.style.visibility = isBelow ? 'hidden' : ''
  }
}

/** A vertical line at a step: `hoverStep` under the pointer of any chart, `atStep` where the page
 * looks back to. */
export function useMarker(which: 'hoverStep' | 'atStep', view: View) {
  const line = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const place = (step: number | undefined) => {
      const element = line.current
      if (!element) return
      const at = step === undefined ? Number.NaN : stepPixel(step, view)
      element.hidden = !(at >= 0 && at <= view.width + 0.5)
      element.dataset.step = t(`step ${step}`)
      if (which === 'hoverStep') uncover(element, view, element.hidden ? Number.NaN : at)
      if (element.hidden) return
      element.style.transform = `translateX(${at}px)`
      // The label stays inside the plot.
      element.classList.toggle('flipped', at > view.width / 2)
    }
    place(uiStore.getState()[which])
    return uiStore.subscribe((now, before) => {
      if (now[which] !== before[which]) place(now[which])
    })
  }, [which, view])
  return line
}

/** Where the pointer is in a plot area: pixels from the left, and a share of the height from the
 * top. */
function placeIn({ currentTarget, clientX, clientY }: PointerEvent<HTMLDivElement>) {
  const box = currentTarget.getBoundingClientRect()
  return {
    x: Math.min(box.width, Math.max(0, clientX - box.left)),
    share_y: (clientY - box.top) / (box.height || 1),
  }
}

/** Lays the box of a selection over what was dragged, in pixels; hides it where nothing was. */
function showDrag(box: HTMLElement, from: number | undefined, to: number): void {
  box.hidden = from === undefined || Math.abs(to - from) < MIN_DRAG
  if (from === undefined || box.hidden) return
  box.style.left = `${Math.min(from, to)}px`
  box.style.width = `${Math.abs(to - from)}px`
}

/** Follows the pointer for the crosshair; dragging sideways chooses the steps that all charts
 * show. */
export function usePointer(
  view: View,
  onHoverY: ((share: number | undefined) => void) | undefined,
) {
  const selection = useRef<HTMLDivElement>(null)
  const from = useRef<number | undefined>(undefined)
  const stepAt = (x: number) => Math.round(pixelStep(x, view))
  const stop = () => {
    from.current = undefined
    if (selection.current) selection.current.hidden = true
  }
  const leave = () => {
    uiStore.setState({ hoverStep: undefined })
    onHoverY?.(undefined)
  }
  const pointed = pointing((event: PointerEvent<HTMLDivElement>) => {
    const { x, share_y } = placeIn(event)
    uiStore.setState({ hoverStep: Math.min(lastDrawnStep(), Math.max(0, stepAt(x))) })
    onHoverY?.(share_y)
  }, leave)
  return {
    selection,
    handlers: {
      ...pointed,
      onPointerDown: (event: PointerEvent<HTMLDivElement>) => {
        pointed.onPointerDown(event)
        if (event.button !== 0 || !event.isPrimary) return
        from.current = placeIn(event).x
        event.currentTarget.setPointerCapture(event.pointerId)
      },
      onPointerMove: (event: PointerEvent<HTMLDivElement>) => {
        pointed.onPointerMove(event)
        if (selection.current) showDrag(selection.current, from.current, placeIn(event).x)
      },
      onPointerUp: (event: PointerEvent<HTMLDivElement>) => {
        const { x } = placeIn(event)
        const start = from.current
        stop()
        if (start === undefined || Math.abs(x - start) < MIN_DRAG) {
          pointed.onPointerUp(event)
          return
        }
        // A finger is gone from where it chose.
        if (event.pointerType === 'touch') leave()
        uiStore.setState({ zoom: zoomBetween(stepAt(start), stepAt(x), lastDrawnStep()) })
      },
      onPointerCancel: () => {
        stop()
        pointed.onPointerCancel()
      },
      onDoubleClick: showAllSteps,
    },
  }
}
