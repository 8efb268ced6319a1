// Stages the run on the page and another experiment: a run that is over makes room for it, and
// comes back when that is undone.

import { sameSettings } from '../../document/experiment/experiment.ts'
import type { Experiment } from '../../document/experiment/schema/schema.ts'
import { isOfRun } from '../state/next_experiment.ts'
import { emptyRun, type LabState } from '../state/store.ts'

/** All that the page shows of one run. */
export type Stage = Pick<LabState, keyof ReturnType<typeof emptyRun> | 'status' | 'run'>

/** What the settings are, as far as a person chooses it. */
export type Settings = Pick<LabState, 'experiment' | 'preset_id' | 'isBeside'>

export const settingsIn = ({ experiment, preset_id, isBeside }: LabState): Settings => ({
  experiment,
  preset_id,
  isBeside,
})

/** A run that made room, and the settings that it was shown with. */
interface SetAside {
  readonly settings: Settings
  readonly stage: Stage
}

function stageOf(state: LabState): Stage {
  const names = [...Object.keys(emptyRun()), 'status', 'run'] as (keyof Stage)[]
  return Object.fromEntries(names.map((name) => [name, state[name]])) as unknown as Stage
}

/** Whether an experiment from elsewhere is another one than that of the run on the page. */
export const isOtherThan = ({ runExperiment }: LabState, experiment: Experiment): boolean =>
  runExperiment !== undefined &&
  (experiment.steering.length > 0 || !sameSettings(experiment, runExperiment))

/** Whether the run is over and `experiment`, which somebody opens, is another one: then nothing of
 * the run says anything about it. */
export const makesRoom = (state: LabState, experiment: Experiment): boolean =>
  (state.status === 'finished' || state.status === 'failed') && isOtherThan(state, experiment)

/** What another experiment has taken the place of. */
export const replaced = {
  /** The run that made room for the one that was opened last. */
  aside: undefined as SetAside | undefined,
  /** Settings of the run on the page, and whether they were what it trained. */
  settings: [] as { readonly settings: Settings; readonly wasOfRun: boolean }[],
}

/** Remembers the run on the page, which is about to make room. */
export function setAside(state: LabState): void {
  replaced.aside = { settings: { ...settingsIn(state), isBeside: false }, stage: stageOf(state) }
}

/** Nothing comes back any more. */
export function forgetSetAside(): void {
  replaced.aside = undefined
  replaced.settings = []
}

/** Remembers the settings of the run on the page, which those of another experiment follow. */
export function leaveRun(state: LabState): void {
  if (state.runExperiment && !state.isBeside)
    replaced.settings.push({ settings: settingsIn(state), wasOfRun: isOfRun(state) })
}
