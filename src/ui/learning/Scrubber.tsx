// One slider over the steps of the run: charts, numbers, samples and everything that was kept show the chosen step.
import { ChevronLeft, ChevronRight, Radio } from 'lucide-react'
import { type KeyboardEvent, useEffect, useRef } from 'react'
import { useStore } from 'zustand'
import { keptBytes, setKeptBudget } from '../../lab/page/kept_run.ts'
import type { LabState } from '../../lab/page/store.ts'
import { formatBytes, formatCount } from '../base/format.ts'
import { usePhaseSpans } from '../base/run.ts'
import { shownStep, shownStore, useAtStep, useShown } from '../base/shown.ts'
import { setPreference, type UiState, uiStore } from '../base/store.ts'
import { resolveColor } from '../plot/css_colors.ts'
import { follow, keptPixels, previousKept, scrubKept, scrubTo } from './scrub.ts'
import './scrubber.css'

const selectFrame = (state: UiState) => state.frame
const selectIsDark = (state: UiState) => state.is_dark
const selectKeptBytes = (state: UiState) => state.kept_bytes
const selectHasSteps = (state: LabState) => state.step > 0

/** Of a slider's handle, which is as wide as scrubber.css says; its middle cannot reach the ends of the track. */
const THUMB = 16

/** A mark for every step of which something is kept, and a longer one where a phase begins. */
function Marks() {
  const canvas = useRef<HTMLCanvasElement>(null)
  const spans = usePhaseSpans()
  const is_dark = useStore(uiStore, selectIsDark)
  useEffect(() => {
    const element = canvas.current
    const ctx = element?.getContext('2d')
    if (!element || !ctx) return
    // As it was observed: asking for it now would lay out the page in the middle of its changes.
    let [width, height] = [0, 0]
    const draw = () => {
      const ratio = globalThis.devicePixelRatio || 1
      if (width <= THUMB) return
      if (element.width !== Math.round(width * ratio)) element.width = Math.round(width * ratio)
      if (element.height !== Math.round(height * ratio)) element.height = Math.round(height * ratio)
      ctx.setTransform(ratio, 0, 0, ratio, (THUMB / 2) * ratio, 0)
      ctx.clearRect(-THUMB, 0, width + THUMB, height)
      const { kept, step } = shownStore.getState()
      ctx.fillStyle = resolveColor('--edge', is_dark)
      for (const x of keptPixels(kept, step, width - THUMB)) ctx.fillRect(x, height - 5, 1, 5)
      ctx.fillStyle = resolveColor('--ink', is_dark)
      for (const span of spans) {
        const x = Math.round((span.step / Math.max(1, step)) * (width - THUMB))
        ctx.fillRect(x, 0, 1.5, height)
      }
    }
    const observer = new ResizeObserver(([{ contentRect }]) => {
      width = Math.round(contentRect.width)
      height = Math.round(contentRect.height)
      draw()
    })
    observer.observe(element)
    const stop = uiStore.subscribe((now, before) => {
      if (now.frame !== before.frame) draw()
    })
    return () => {
      stop()
      observer.disconnect()
    }
  }, [spans, is_dark])
  return <canvas ref={canvas} className="scrub-marks" aria-hidden="true" />
}

/** The slider's own keys; the page's leave inputs alone. */
function onKeyDown(event: KeyboardEvent): void {
  if (event.key !== '[' && event.key !== ']') return
  event.preventDefault()
  scrubKept(event.key === '[' ? -1 : 1)
}

const BUDGETS = [4e6, 16e6, 64e6, 256e6] as const

function chooseBudget(bytes: number): void {
  setPreference({ kept_bytes: bytes })
  setKeptBudget(bytes, shownStore.getState().kept)
}

const KINDS = [
  ['samples', 'Samples'],
  ['observations', 'What the layers did'],
  ['traces', 'Token tables'],
  ['generations', 'Held-out answers'],
] as const

/** What can be looked back at, and how much room that may take. */
function KeptFold() {
  useStore(uiStore, selectFrame)
  const budget = useStore(uiStore, selectKeptBytes)
  const { kept } = shownStore.getState()
  const bytes = keptBytes(kept)
  const all = Object.values(bytes).reduce((sum, own) => sum + own, 0)
  const choices = [...new Set([...BUDGETS, budget])].sort((a, b) => a - b)
  return (
    <details className="scrub-kept" data-testid="kept">
      <summary title="What is kept of past steps">Kept: {formatBytes(all)}</summary>
      <div>
        <table>
          <thead>
            <tr>
              <th scope="col">kept</th>
              <th scope="col">steps</th>
              <th scope="col">memory</th>
            </tr>
          </thead>
          <tbody>
            {KINDS.map(([kind, name]) => (
              <tr key={kind} data-testid={`kept-${kind}`}>
                <th scope="row">{name}</th>
                <td>{formatCount(kept[kind].items.length)}</td>
                <td>{formatBytes(bytes[kind])}</td>
              </tr>
            ))}
          </tbody>
        </table>
        <label>
          At most, of each{' '}
          <select
            data-testid="kept-budget"
            value={budget}
            onChange={(event) => chooseBudget(Number(event.target.value))}
          >
            {choices.map((choice) => (
              <option key={choice} value={choice}>
                {choice / 1e6} MB
              </option>
            ))}
          </select>
        </label>
        <p className="soft">
          Above this, some steps are dropped so that the rest stays spread over the run. The first
          and the newest always stay. Metrics are kept for every step.
        </p>
      </div>
    </details>
  )
}

function Slider() {
  useStore(uiStore, selectFrame)
  const at_step = useAtStep()
  const newest = shownStore.getState().step
  const step = at_step ?? newest
  return (
    <>
      <output className="scrub-step" data-testid="scrub-step" aria-live="off">
        Step <b>{formatCount(step)}</b> <small>of {formatCount(newest)}</small>
      </output>
      <div className="scrub-track">
        <Marks />
        <input
          type="range"
          data-testid="scrubber"
          aria-label="Step that the page shows"
          aria-valuetext={
            at_step === undefined ? `Step ${step}, following the run` : `Step ${step}`
          }
          min={0}
          max={newest}
          value={step}
          onChange={({ target }) =>
            scrubTo(Number(target.value) >= Number(target.max) ? undefined : Number(target.value))
          }
          onKeyDown={onKeyDown}
        />
      </div>
    </>
  )
}

/** To the kept steps around the shown one. */
function KeptSteps() {
  useStore(uiStore, selectFrame)
  const at_step = useAtStep()
  const { kept } = shownStore.getState()
  const previous = previousKept(kept, shownStep())
  return (
    <>
      <button
        type="button"
        className="plain"
        data-testid="kept-previous"
        aria-label="Previous kept step"
        title="Previous kept step ([)"
        disabled={previous === undefined}
        onClick={() => scrubKept(-1)}
      >
        <ChevronLeft className="icon" aria-hidden="true" />
      </button>
      <button
        type="button"
        className="plain"
        data-testid="kept-next"
        aria-label="Next kept step"
        title="Next kept step (])"
        disabled={at_step === undefined}
        onClick={() => scrubKept(1)}
      >
        <ChevronRight className="icon" aria-hidden="true" />
      </button>
    </>
  )
}

function Follow() {
  const is_following = useAtStep() === undefined
  return (
    <button
      type="button"
      className="scrub-follow"
      data-testid="follow"
      aria-pressed={is_following}
      title="Show the newest step and follow the run (End on the slider)"
      onClick={follow}
    >
      <Radio className="icon" aria-hidden="true" />
      Follow
    </button>
  )
}

/** Nothing before the first step. */
export function Scrubber() {
  const has_steps = useShown(selectHasSteps)
  const is_back = useAtStep() !== undefined
  if (!has_steps) return null
  return (
    <section
      className={is_back ? 'scrubber back' : 'scrubber'}
      aria-label="Step shown"
      data-testid="scrub"
    >
      <Slider />
      <KeptSteps />
      <Follow />
      <KeptFold />
    </section>
  )
}
