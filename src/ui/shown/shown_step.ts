// Gives the step that the page shows, with everything that the shown run has of it: what every
// panel is given.
import type { Experiment } from '../../document/experiment/schema/schema.ts'
import type { LabState } from '../../page/state/store.ts'
import type { KeptKind, KeptOfRun } from '../../record/run/kept_run.ts'
import { newestIn, writtenRun } from './readout.ts'
import { shownExperiment } from './run.ts'
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
    metric: (name) => newestIn([run.series.get(name)], atStep ?? run.step),
    samples: samples.at(atStep),
    observations: observations.at(atStep),
    traces: traces.at(atStep),
    generations: generations.at(atStep),
  }
}

/** Of the step that words are written of now: the same in every panel. */
export const readShownStep = (): ShownStep => shownStepOf(writtenRun(), uiStore.getState().atStep)
