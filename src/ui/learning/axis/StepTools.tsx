// Draws, beside the axis of steps, the shown step, the way to kept ones, the zoom, and what is kept
// of past steps.
import { ChevronLeft, ChevronRight, Columns3, History, Radio, ZoomOut } from 'lucide-react'
import { useStore } from 'zustand'
import type { LabState } from '../../../page/state/store.ts'
import { keptBytes, setKeptBudget } from '../../../record/run/kept_run.ts'
import { formatBytes, formatCount } from '../../kit/format.ts'
import { follow, previousKept, scrubKept, showAllSteps } from '../../open/scrub.ts'
import { useTextPace, writtenRun } from '../../shown/readout.ts'
import { plannedSteps, selectHasRun, shownPhases, useEqualPhases } from '../../shown/run.ts'
import { presentStore, shownStep, useAtStep, useIsImported, usePresent } from '../../shown/shown.ts'
import { setPreference, type UiState, uiStore } from '../../shown/store.ts'

const selectKeptBytes = (state: UiState) => state.kept_bytes
const selectZoom = (state: UiState) => state.zoom

const BUDGETS = [2 ** 22, 2 ** 24, 2 ** 26, 2 ** 28] as const

function chooseBudget(bytes: number): void {
  setPreference({ kept_bytes: bytes })
  setKeptBudget(bytes, presentStore.getState().kept)
}

const KINDS = [
  ['samples', 'Samples'],
  ['observations', 'What the layers did'],
  ['traces', 'Token tables'],
  ['generations', 'Held-out answers'],
] as const

/** What can be looked back at, and how much room that may take. */
function KeptFold() {
  useTextPace()
  const budget = useStore(uiStore, selectKeptBytes)
  const { kept } = presentStore.getState()
  const bytes = keptBytes(kept)
  const all = Object.values(bytes).reduce((sum, own) => sum + own, 0)
  // A log is its metrics, which stay: none of it is dropped for room.
  const hasOnlyMetrics = useIsImported() && all === 0
  const choices = [...new Set([...BUDGETS, budget])].sort((a, b) => a - b)
  return hasOnlyMetrics ? null : (
    <details className="scrub-kept" data-testid="kept">
      <summary title={`What is kept of past steps: ${formatBytes(all)}`}>
        <History className="icon bar-icon" aria-hidden="true" />
        <span className="bar-words">Kept: {formatBytes(all)}</span>
      </summary>
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
                {formatBytes(choice)}
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

/** To the kept steps around the shown one. */
function KeptSteps() {
  useTextPace()
  const atStep = useAtStep()
  const { kept } = presentStore.getState()
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
        disabled={atStep === undefined}
        onClick={() => scrubKept(1)}
      >
        <ChevronRight className="icon" aria-hidden="true" />
      </button>
    </>
  )
}

function Follow() {
  const isFollowing = useAtStep() === undefined
  return (
    <button
      type="button"
      className="scrub-follow"
      data-testid="follow"
      aria-pressed={isFollowing}
      title="Show the newest step and follow the run (End on the slider)"
      onClick={follow}
    >
      <Radio className="icon" aria-hidden="true" />
      <span className="bar-words">Follow</span>
    </button>
  )
}

/** The way back to all steps. */
function ResetZoom() {
  return (
    <button
      type="button"
      className="plain zoom-reset"
      data-testid="zoom-reset"
      aria-label="Reset zoom"
      title="Charts show all steps again (Escape)"
      hidden={!useStore(uiStore, selectZoom)}
      onClick={showAllSteps}
    >
      <ZoomOut className="icon" aria-hidden="true" />
    </button>
  )
}

const selectHasPhases = (state: LabState) => shownPhases(state).length > 1

/** Steps at one scale, or phases of equal width; nothing where there is one phase. */
function EqualPhases() {
  const isEqual = useEqualPhases()
  if (!usePresent(selectHasPhases)) return null
  return (
    <button
      type="button"
      className="axis-equal"
      data-testid="equal-phases"
      aria-pressed={isEqual}
      title="Gives every phase the same width on all charts, so that a short one is easy to see; else the axis of steps is even"
      onClick={() => setPreference({ equal_phases: !isEqual })}
    >
      <Columns3 className="icon bar-icon" aria-hidden="true" />
      <span className="bar-words">Equal phases</span>
    </button>
  )
}

const selectHasSteps = (state: LabState) => selectHasRun(state) || state.step > 0

/** From the beginning of a run, so that its place is not empty until the first step. */
export function StepTools() {
  return usePresent(selectHasSteps) ? <Tools /> : null
}

function Tools() {
  useTextPace()
  const atStep = useAtStep()
  const state = writtenRun()
  const planned = plannedSteps(state)
  return (
    <div className="axis-tools">
      <ResetZoom />
      <output className="scrub-step" data-testid="scrub-step" aria-live="off">
        Step <b>{formatCount(atStep ?? state.step)}</b> of {formatCount(planned)}
      </output>
      <KeptSteps />
      <Follow />
      <span className="timeline-gap" />
      <EqualPhases />
      <KeptFold />
    </div>
  )
}
