// Gives the step that the page shows, with everything that the shown run has of it: what every
// panel is given.
import type { Experiment } from '../../document/experiment/schema/schema.ts'
import type { LabState } from '../../page/state/store.ts'
import type { KeptKind, KeptOfRun } from '../../record/run/kept_run.ts'
import { newestIn } from './readout.ts'
import { shownExperiment } from './run.ts'
import { presentStore } from './shown.ts'
import { uiStore } from './store.ts'

/** What was kept of a run, of each kind the newest at or before the step; undefined where there is
 * none. */
type KeptAtStep = { readonly [kind in KeptKind]: ReturnType<KeptOfRun[kind]['at']> }

export interface ShownStep extends KeptAtStep {
  /** The step that was scrubbed to, else the run's newest. */
  readonly step: number
  /** The page follows the run. */
  readonly isNewest: boolean
  readonly experiment: Experiment
  /** A metric's newest measurement at or before the step; undefined where there is none. */
  readonly metric: (name: string) => number | undefined
}

function shownStepOf(run: LabState, atStep: number | undefined): ShownStep {
  const { samples, observations, traces, generations } = run.kept
  return {
    step: atStep ?? run.step,
    isNewest: atStep === undefined,
    experiment: shownExperiment(run),
    metric: (name) => newestIn([run.series.get(name)], atStep),
    samples: samples.at(atStep),
    observations: observations.at(atStep),
    traces: traces.at(atStep),
    generations: generations.at(atStep),
  }
}

let known: { readonly key: readonly unknown[]; readonly shown: ShownStep } | undefined

/** The same object until the page redraws, is scrubbed, or shows another run. */
function getState(): ShownStep {
  const { atStep, frame } = uiStore.getState()
  const run = presentStore.getState()
  // Every run has columns of its own.
  const key = [atStep, frame, run.series]
  if (!known || key.some((part, i) => part !== known?.key[i]))
    known = { key, shown: shownStepOf(run, atStep) }
  return known.shown
}

/** Reads as a store of the shown step. */
export const shownStepStore = {
  getState,
  getInitialState: getState,
  subscribe: (listener: (state: ShownStep, before: ShownStep) => void): (() => void) => {
    let before = getState()
    const tell = () => {
      const state = getState()
      if (state === before) return
      const last = before
      before = state
      listener(state, last)
    }
    const stops = [uiStore.subscribe(tell), presentStore.subscribe(tell)]
    return () => {
      for (const stop of stops) stop()
    }
  },
}
