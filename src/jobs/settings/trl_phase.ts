// Chooses the phase of preferences or of distillation that becomes a job, and the system.
import type {
  DistillDocument,
  PreferenceDocument,
} from '../../document/experiment/fields/phases.ts'
import type { Experiment } from '../../document/experiment/schema/schema.ts'
import { JobError } from './job_error.ts'
import { type Place, phaseWords } from './phase_choice.ts'
import { EXPORT_FOR, TARGET_NAMES, type Target } from './setting.ts'

/** A phase that TRL has a trainer of its own for. */
interface Chosen<P> {
  readonly index: number
  readonly phase: P
  /** Steps of the job: those that are left, or all of a phase that is over. */
  readonly steps: number
}

export type ChosenPreference = Chosen<PreferenceDocument>
export type ChosenDistillation = Chosen<DistillDocument>

export const isDistillation = (
  chosen: ChosenPreference | ChosenDistillation,
): chosen is ChosenDistillation => chosen.phase.kind === 'distill'

/** The phase that `wanted` names, or the first one that is not over where an experiment has no
 * phase of reinforcement; undefined where the job is one of reinforcement. */
export function chooseForTrl(
  { phases }: Experiment,
  place: Place,
  wanted: number | undefined,
): ChosenPreference | ChosenDistillation | undefined {
  const all = phases.flatMap((phase, index) =>
    phase.kind === 'preference' || phase.kind === 'distill' ? [{ phase, index }] : [],
  )
  const named = all.find(({ index }) => index === wanted)
  const isMeant = wanted === undefined && phases.every(({ kind }) => kind !== 'rl')
  const ahead = all.find(({ index }) => index >= place.phase)
  const found = named ?? (isMeant ? (ahead ?? all.at(-1)) : undefined)
  if (!found) return undefined
  const { index, phase } = found
  const done = index === place.phase ? place.phase_step : 0
  const steps = phase.steps > done ? phase.steps - done : phase.steps
  return phase.kind === 'distill' ? { index, phase, steps } : { index, phase, steps }
}

/** Why a phase of distillation does not leave for other systems. */
const DISTILLS_OTHERWISE: Readonly<Record<Exclude<Target, 'trl'>, string>> = {
  verl: 'verl distils from a teacher that runs on servers of its own (distillation.*), and knows neither divergences over the whole vocabulary nor demonstrations',
  bupo: 'the fork has no distillation',
}

/** Throws JobError for a system without a trainer of such a phase. */
export function requireTrl(target: Target, chosen: ChosenPreference | ChosenDistillation): void {
  if (target === 'trl') return
  const { index, phase } = chosen
  throw new JobError(
    isDistillation(chosen)
      ? `${phaseWords(phase, index)}: ${DISTILLS_OTHERWISE[target]}; ${EXPORT_FOR.trl}`
      : `phases.${index}.kind is preference: ${TARGET_NAMES[target]} has no trainer of preferences; ${EXPORT_FOR.trl}`,
  )
}
