// The run on the page and another experiment: a run that is over makes room for it, and comes back when that is undone.
import { sameSettings } from '../experiment/experiment.ts'
import type { Experiment } from '../experiment/schema.ts'
import { emptyRun, type LabState } from './store.ts'

/** All that the page shows of one run. */
export type Stage = Pick<LabState, keyof ReturnType<typeof emptyRun> | 'status' | 'run'>

/** What the settings are, as far as a person chooses it. */
export type Settings = Pick<LabState, 'experiment' | 'preset_id'>

/** A run that made room, and the settings that it was shown with. */
export interface SetAside {
  readonly settings: Settings
  readonly stage: Stage
}

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)

export function stageOf(state: LabState): Stage {
  const names = [...Object.keys(emptyRun()), 'status', 'run'] as (keyof Stage)[]
  return Object.fromEntries(names.map((name) => [name, state[name]])) as unknown as Stage
}

/** Whether the run is over and `experiment`, which somebody opens, is another one: then nothing of the run says anything about it. */
export function makesRoom(state: LabState, experiment: Experiment): boolean {
  const { status, run_experiment } = state
  if (!run_experiment || (status !== 'finished' && status !== 'failed')) return false
  return experiment.steering.length > 0 || !sameSettings(experiment, run_experiment)
}

/** The run that comes back with these settings, and them: no other run has been on the page since. */
export const comesBack = (
  state: LabState,
  aside: SetAside | undefined,
  settings: Settings,
): (Settings & Stage) | undefined =>
  aside && !state.run_experiment && isSame(aside.settings, settings)
    ? { ...aside.settings, ...aside.stage }
    : undefined
