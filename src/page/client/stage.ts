// Stages the run on the page and another experiment: a run that is over makes room for it, and
// comes back when that is undone.

import { sameSettings } from '../../document/experiment/experiment.ts'
import type { Experiment } from '../../document/experiment/schema/schema.ts'
import { emptyRun, type LabState } from '../state/store.ts'

/** All that the page shows of one run. */
type Stage = Pick<LabState, keyof ReturnType<typeof emptyRun> | 'status' | 'run'>

/** What the settings are, as far as a person chooses it. */
export type Settings = Pick<LabState, 'experiment' | 'preset_id'>

export const settingsIn = ({ experiment, preset_id }: LabState): Settings => ({
  experiment,
  preset_id,
})

/** A run that made room, and the settings that it was shown with. */
interface SetAside {
  readonly settings: Settings
  readonly stage: Stage
}

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)

function stageOf(state: LabState): Stage {
  const names = [...Object.keys(emptyRun()), 'status', 'run'] as (keyof Stage)[]
  return Object.fromEntries(names.map((name) => [name, state[name]])) as unknown as Stage
}

/** Whether the run is over and `experiment`, which somebody opens, is another one: then nothing of
 * the run says anything about it. */
export function makesRoom(state: LabState, experiment: Experiment): boolean {
  const { status, runExperiment } = state
  if (!runExperiment || (status !== 'finished' && status !== 'failed')) return false
  return experiment.steering.length > 0 || !sameSettings(experiment, runExperiment)
}

/** The run that made room for the experiment that was opened last. */
let keptAside: SetAside | undefined

/** Remembers the run on the page, which is about to make room. */
export function setAside(state: LabState): void {
  keptAside = { settings: settingsIn(state), stage: stageOf(state) }
}

/** Nothing comes back any more. */
export function forgetSetAside(): void {
  keptAside = undefined
}

/** The run that comes back with these settings, and them: no other run has been on the page
 * since. */
export const comesBack = (state: LabState, settings: Settings): (Settings & Stage) | undefined =>
  keptAside && !state.runExperiment && isSame(keptAside.settings, settings)
    ? { ...keptAside.settings, ...keptAside.stage }
    : undefined
