// Sets how smooth the lines of all charts are, and says which steps they show.
import { useId } from 'react'
import { useStore } from 'zustand'
import { showAllSteps } from '../open/scrub.ts'
import { MAX_WEIGHT } from '../scales/smooth.ts'
import { lastDrawnStep, useStepDomain } from '../shown/run.ts'
import { setPreference, type UiState, uiStore } from '../shown/store.ts'

const SMOOTHING_WORDS =
  'A local linear fit, which does not lag: each point lies on the straight line through the measurements around it, the k-th to either side counting wᵏ. Weight w = 0.8 looks at about 9. Gaps stay gaps; the faint line is what was measured.'

const selectSmoothing = (state: UiState) => state.smoothing

/** The slider is finer near its end, where it matters. */
const NINES = -Math.log10(1 - MAX_WEIGHT)
const weightOf = (share: number) => Number((1 - 10 ** (-NINES * share)).toFixed(3))
const shareOf = (weight: number) => -Math.log10(1 - weight) / NINES

function Smoothing() {
  const smoothing = Math.min(MAX_WEIGHT, useStore(uiStore, selectSmoothing))
  const help = useId()
  // What a few samples say is smoothed in any case.
  const words = smoothing > 0 ? String(smoothing) : 'as needed'
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
        aria-valuetext={words}
        aria-describedby={help}
        onChange={(event) => setPreference({ smoothing: weightOf(Number(event.target.value)) })}
      />
      <output data-testid="smoothing-value">{words}</output>
      <span id={help} className="visually-hidden">
        {SMOOTHING_WORDS}
      </span>
    </label>
  )
}

const selectZoom = (state: UiState) => state.zoom

/** Which steps they show, where these are not all, and the way back to all. */
function ZoomRange() {
  const zoom = useStore(uiStore, selectZoom)
  const [low] = useStepDomain()
  return (
    <div className="zoom-shown" hidden={!zoom}>
      <output className="zoom-range" data-testid="zoom-range" aria-live="off">
        Charts show {low}–{zoom?.high ?? lastDrawnStep()}
      </output>
      <button
        type="button"
        data-testid="zoom-all"
        title="Charts show all steps again (Escape)"
        onClick={showAllSteps}
      >
        Show all
      </button>
    </div>
  )
}

export function ChartTools() {
  return (
    <div className="chart-tools">
      <Smoothing />
      <ZoomRange />
    </div>
  )
}
