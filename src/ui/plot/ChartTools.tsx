// What holds for all charts at once: which steps they show, and how smooth their lines are.
import { type ChangeEvent, type CSSProperties, useId } from 'react'
import { useStore } from 'zustand'
import { lastDrawnStep, usePhaseSpans, useStepDomain } from '../base/run.ts'
import { setPreference, type UiState, uiStore } from '../base/store.ts'
import { phaseMark } from './axes/geometry.ts'
import { zoomBetween } from './axes/zoom.ts'
import { MAX_WEIGHT, SMOOTHING_WORDS } from './lines/smooth.ts'
import { showAllSteps } from './plot_hooks.ts'

const selectFrom = (state: UiState) => state.from_phase
const selectZoom = (state: UiState) => state.zoom
const selectSmoothing = (state: UiState) => state.smoothing

/** A short phase is hard to see beside a long warm start. */
function Phases() {
  const spans = usePhaseSpans()
  const from_phase = useStore(uiStore, selectFrom)
  const is_zoomed = useStore(uiStore, selectZoom) !== undefined
  if (spans.length < 2) return null
  const chosen = spans.some(({ number }) => number === from_phase) ? from_phase : 1
  return (
    <fieldset className="range" data-testid="range">
      <legend className="visually-hidden">Steps shown</legend>
      {spans.map(({ number, name }) => (
        <label key={number}>
          <input
            type="radio"
            name="from-phase"
            value={number}
            checked={!is_zoomed && chosen === number}
            onChange={() => uiStore.setState({ from_phase: number, zoom: undefined })}
          />
          {number === 1 ? 'All steps' : `From ${phaseMark(number)} ${name}`}
        </label>
      ))}
    </fieldset>
  )
}

/** Two handles on the steps of the run: the first and the last one shown. */
function Brush() {
  const newest = useStore(uiStore, lastDrawnStep)
  const zoom = useStore(uiStore, selectZoom)
  const [low, end] = useStepDomain()
  if (newest < 2) return null
  const high = Math.min(end, newest)
  const choose = (from: number, to: number) =>
    uiStore.setState({ zoom: zoomBetween(from, to, newest), from_phase: 1 })
  const share = (step: number) => `${(100 * step) / newest}%`
  return (
    <div className="zoom" role="group" aria-label="Steps shown by all charts">
      <output data-testid="zoom-range" aria-live="off">
        {low}–{zoom?.high ?? `${newest}`}
      </output>
      <div
        className="zoom-track"
        style={{ '--low': share(low), '--high': share(high) } as CSSProperties}
      >
        <input
          type="range"
          aria-label="First step shown"
          data-testid="zoom-first"
          min={0}
          max={newest}
          value={Math.min(low, newest)}
          onChange={(event: ChangeEvent<HTMLInputElement>) =>
            choose(Math.min(Number(event.target.value), high - 1), high)
          }
        />
        <input
          type="range"
          aria-label="Last step shown"
          data-testid="zoom-last"
          min={0}
          max={newest}
          value={high}
          onChange={(event: ChangeEvent<HTMLInputElement>) =>
            choose(low, Math.max(Number(event.target.value), low + 1))
          }
        />
      </div>
      <button
        type="button"
        data-testid="zoom-reset"
        disabled={zoom === undefined}
        onClick={showAllSteps}
      >
        Reset zoom
      </button>
    </div>
  )
}

/** The slider is finer near 1, where it matters: weight = 1 - 10^-3s. */
const weightOf = (share: number) => Number(Math.min(MAX_WEIGHT, 1 - 10 ** (-3 * share)).toFixed(3))
const shareOf = (weight: number) => -Math.log10(1 - Math.min(MAX_WEIGHT, weight)) / 3

function Smoothing() {
  const smoothing = useStore(uiStore, selectSmoothing)
  const help = useId()
  return (
    <label className="smoothing" title={SMOOTHING_WORDS}>
      <span className="soft">Smoothing</span>
      <input
        type="range"
        data-testid="smoothing"
        min={0}
        max={1}
        step={0.02}
        value={shareOf(smoothing)}
        aria-valuetext={smoothing > 0 ? String(smoothing) : 'off'}
        aria-describedby={help}
        onChange={(event) => setPreference({ smoothing: weightOf(Number(event.target.value)) })}
      />
      <output data-testid="smoothing-value">{smoothing > 0 ? smoothing : 'off'}</output>
      <span id={help} className="visually-hidden">
        {SMOOTHING_WORDS}
      </span>
    </label>
  )
}

/** Which steps are shown, without how smooth lines are. */
export function StepTools() {
  return (
    <div className="card step-tools chart-tools">
      <Phases />
      <Brush />
    </div>
  )
}

export function ChartTools() {
  return (
    <div className="chart-tools">
      <Phases />
      <Brush />
      <Smoothing />
    </div>
  )
}
