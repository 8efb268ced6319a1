// Draws the axis of steps below the phases: where the page looks, which steps the charts show, and
// of which steps anything is kept. Its steps lie below the phases that they belong to, whatever is
// drawn behind the run.
import { type KeyboardEvent, type PointerEvent, useEffect, useMemo, useRef } from 'react'
import { useStore } from 'zustand'
import type { LabState } from '../../../page/state/store.ts'
import { scrollsPage } from '../../kit/input/slider_touch.ts'
import { keptSteps, scrubKept, scrubTo, showAllSteps } from '../../open/scrub.ts'
import { resolveColor } from '../../scales/css_colors.ts'
import { equalPhases, placeOf, type StepScale, stepAtPlace } from '../../scales/step_scale.ts'
import { zoomBetween } from '../../scales/zoom.ts'
import { keepWritten, useTextPace, writtenRun } from '../../shown/readout.ts'
import {
  lastDrawnStep,
  plannedSteps,
  useEqualPhases,
  useStepDomain,
  useStepScale,
} from '../../shown/run.ts'
import { presentStore, useAtStep, usePresent } from '../../shown/shown.ts'
import { type UiState, uiStore } from '../../shown/store.ts'
import { type Grabbed, handleAt } from './handle_at.ts'

const selectIsDark = (state: UiState) => state.isDark
const selectHasSteps = (state: LabState) => state.step > 0

/** Steps as shares of the axis and back. */
interface Axis {
  share(step: number): number
  stepAt(share: number): number
}

function axisOf(scale: StepScale | undefined, end: number): Axis {
  const whole = placeOf(end, scale) || 1
  return {
    share: (step) => Math.min(1, Math.max(0, placeOf(step, scale) / whole)),
    stepAt: (share) => Math.round(stepAtPlace(Math.min(1, Math.max(0, share)) * whole, scale)),
  }
}

/** The line above: its phases, and whether they are those of the next run. */
interface Above {
  readonly isNext: boolean
  readonly phases: readonly { readonly steps: number }[]
}

type Next = Above['phases'] | undefined

/** The whole run on one axis, which is the same until the axis changes. `next`: where the phases
 * above are those of the next run, each step stands where it would be in that one. */
function useAxis(next: Next): Axis {
  const own = useStepScale()
  const isEqual = useEqualPhases()
  const planned = usePresent(plannedSteps)
  const lengths = next?.map(({ steps }) => steps).join() ?? ''
  const total = next?.reduce((sum, { steps }) => sum + steps, 0) ?? planned
  const end = Math.max(total, presentStore.getState().step, 1)
  return useMemo(() => {
    const equal = isEqual && lengths ? equalPhases(lengths.split(',').map(Number)) : undefined
    return axisOf(lengths ? equal : own, end)
  }, [own, isEqual, lengths, end])
}

/** A mark for every step of which something is kept. */
function Marks({ axis }: { readonly axis: Axis }) {
  const canvas = useRef<HTMLCanvasElement>(null)
  const isDark = useStore(uiStore, selectIsDark)
  useEffect(() => {
    const element = canvas.current
    const ctx = element?.getContext('2d')
    if (!element || !ctx) return
    // As it was observed: asking for it now would lay out the page in the middle of its changes.
    let [width, height] = [0, 0]
    const draw = () => {
      const ratio = globalThis.devicePixelRatio || 1
      if (width === 0) return
      if (element.width !== Math.round(width * ratio)) element.width = Math.round(width * ratio)
      if (element.height !== Math.round(height * ratio)) element.height = Math.round(height * ratio)
      ctx.setTransform(ratio, 0, 0, ratio, 0, 0)
      ctx.clearRect(0, 0, width, height)
      ctx.fillStyle = resolveColor('--edge', isDark)
      const pixels = keptSteps(presentStore.getState().kept).map((step) =>
        Math.round(axis.share(step) * (width - 1)),
      )
      for (const x of new Set(pixels)) ctx.fillRect(x, 0, 1, height)
    }
    const observer = new ResizeObserver(([{ contentRect }]) => {
      width = Math.round(contentRect.width)
      height = Math.round(contentRect.height)
      draw()
    })
    observer.observe(element)
    const stop = keepWritten(draw)
    return () => {
      stop()
      observer.disconnect()
    }
  }, [axis, isDark])
  return <canvas ref={canvas} className="axis-marks" aria-hidden="true" />
}

/** The slider's own keys; the page's leave inputs alone. */
function onKeyDown(event: KeyboardEvent): void {
  if (event.key !== '[' && event.key !== ']') return
  event.preventDefault()
  scrubKept(event.key === '[' ? -1 : 1)
}

const ENDS = [
  { id: 'zoom-first', label: 'First step that the charts show' },
  { id: 'zoom-last', label: 'Last step that the charts show' },
] as const

/** A slider by key, drawn as a handle at its place on the axis; the track moves it by pointer. */
function Handle(props: {
  readonly id: Grabbed
  readonly label: string
  readonly axis: Axis
  readonly step: number
  readonly max: number
  readonly said?: string
  onStep(step: number): void
}) {
  const { id, label, axis, step, max, said, onStep } = props
  return (
    <span
      className={id === 'scrubber' ? 'axis-handle axis-now' : 'axis-handle axis-end'}
      style={{ left: `${100 * axis.share(step)}%` }}
      data-handle={id}
    >
      <input
        type="range"
        data-testid={id}
        aria-label={label}
        aria-valuetext={said}
        min={0}
        max={max}
        value={step}
        onChange={({ target }) => onStep(Number(target.value))}
        onKeyDown={onKeyDown}
      />
    </span>
  )
}

const chooseZoom = (from: number, to: number): void =>
  uiStore.setState({ zoom: zoomBetween(from, to, lastDrawnStep()) })

/** Where on the track an event is, as a share of it. */
const shareOf = ({ currentTarget, clientX }: PointerEvent<HTMLElement>): number => {
  const { left, width } = currentTarget.getBoundingClientRect()
  return (clientX - left) / (width || 1)
}

/** The handle under the pointer. */
function grabbedAt(event: PointerEvent<HTMLElement>): Grabbed {
  const { width, top, height } = event.currentTarget.getBoundingClientRect()
  const handles = event.currentTarget.querySelectorAll<HTMLElement>('.axis-handle')
  const places = [...handles].map((handle) => ({
    id: handle.dataset.handle as Grabbed,
    at: (Number.parseFloat(handle.style.left) / 100) * width,
    width: handle.offsetWidth,
  }))
  return handleAt(shareOf(event) * width, event.clientY >= top + height / 2, places)
}

/** A pointer on the track. */
interface Held {
  readonly handle: Grabbed
  readonly x: number
  readonly y: number
  /** Undefined while a finger may still mean to scroll the page. */
  scrolls: boolean | undefined
}

/** Moves the grabbed handle: with a mouse at once, with a finger once it goes along the track or
 * has tapped it. */
function useGrab(move: (handle: Grabbed, share: number) => void) {
  const held = useRef<Held>(undefined)
  const follow = (event: PointerEvent<HTMLElement>) => {
    const own = held.current
    if (!own) return
    own.scrolls ??= scrollsPage(event.clientX - own.x, event.clientY - own.y)
    if (own.scrolls === false) move(own.handle, shareOf(event))
  }
  const drop = () => {
    held.current = undefined
  }
  return {
    onPointerDown: (event: PointerEvent<HTMLElement>) => {
      if (event.button !== 0) return
      const scrolls = event.pointerType === 'mouse' ? false : undefined
      held.current = { handle: grabbedAt(event), x: event.clientX, y: event.clientY, scrolls }
      event.currentTarget.setPointerCapture(event.pointerId)
      follow(event)
    },
    onPointerMove: follow,
    onPointerUp: (event: PointerEvent<HTMLElement>) => {
      if (held.current) held.current.scrolls ??= false
      follow(event)
      drop()
    },
    onPointerCancel: drop,
  }
}

/** Which steps the handles are at, and what moving them does. */
function useHandles() {
  useTextPace()
  const atStep = useAtStep()
  const newest = writtenRun().step
  const drawn = lastDrawnStep()
  const [low, end] = useStepDomain()
  const high = Math.min(end, drawn)
  const moved: Readonly<Record<Grabbed, (to: number) => void>> = {
    scrubber: (to) => scrubTo(to >= newest ? undefined : to),
    'zoom-first': (to) => chooseZoom(Math.min(to, high - 1), high),
    'zoom-last': (to) => chooseZoom(low, Math.max(to, low + 1)),
  }
  return { atStep, newest, drawn, low: Math.min(low, drawn), high, moved }
}

function Track({ next }: { readonly next: Next }) {
  const axis = useAxis(next)
  const { atStep, newest, drawn, low, high, moved } = useHandles()
  const step = atStep ?? newest
  const grab = useGrab((handle, share) => moved[handle](axis.stepAt(share)))
  const [left, right] = [axis.share(low), axis.share(high)]
  return (
    <div
      className="axis-track"
      data-zoomed={low > 0 || high < drawn}
      role="group"
      aria-label="Steps of the run"
      {...grab}
      onDoubleClick={showAllSteps}
    >
      <Marks axis={axis} />
      <span
        className="axis-window"
        style={{ left: `${100 * left}%`, width: `${100 * (right - left)}%` }}
      />
      <Handle
        id="scrubber"
        label="Step that the page shows"
        axis={axis}
        step={step}
        max={newest}
        said={atStep === undefined ? `Step ${step}, following the run` : `Step ${step}`}
        onStep={moved.scrubber}
      />
      {drawn < 2
        ? null
        : ENDS.map(({ id, label }) => (
            <Handle
              key={id}
              id={id}
              label={label}
              axis={axis}
              step={id === 'zoom-first' ? low : high}
              max={drawn}
              onStep={moved[id]}
            />
          ))}
    </div>
  )
}

/** Below the phases, as wide as they are; nothing before the first step. */
export function StepTrack({ timeline: { isNext, phases } }: { readonly timeline: Above }) {
  return usePresent(selectHasSteps) ? <Track next={isNext ? phases : undefined} /> : null
}
