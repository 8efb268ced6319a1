// Which phase of preferences becomes a job, and for which system.
import type { PreferenceDocument } from '../../document/experiment/fields/phases.ts'
import type { Experiment } from '../../document/experiment/schema/schema.ts'
import { JobError } from './job_error.ts'
import type { Place } from './phase_choice.ts'
import { TARGET_NAMES, type Target } from './setting.ts'

export interface ChosenPreference {
  readonly index: number
  readonly phase: PreferenceDocument
  /** Steps of the job: those that are left, or all of a phase that is over. */
  readonly steps: number
}

/** The phase that `wanted` names, or the first one that is not over where an experiment has no
 * phase of reinforcement; undefined where the job is one of reinforcement. */
export function choosePreference(
  { phases }: Experiment,
  place: Place,
  wanted: number | undefined,
): ChosenPreference | undefined {
  const all = phases.flatMap((phase, index) =>
    phase.kind === 'preference' ? [{ phase, index }] : [],
  )
  const named = all.find(({ index }) => index === wanted)
  const isMeant = wanted === undefined && phases.every(({ kind }) => kind !== 'rl')
  const ahead = all.find(({ index }) => index >= place.phase)
  const found = named ?? (isMeant ? (ahead ?? all.at(-1)) : undefined)
  if (!found) return undefined
  const { steps } = found.phase
  const done = found.index === place.phase ? place.phase_step : 0
  return { ...found, steps: steps > done ? steps - done : steps }
}

/** Throws JobError for a system without a trainer of preferences. */
export function requireTrl(target: Target, index: number): void {
  if (target !== 'trl')
    throw new JobError(
      `phases.${index}.kind is preference: ${TARGET_NAMES[target]} has no trainer of preferences; export with --to trl`,
    )
}
