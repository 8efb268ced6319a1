// Chooses the phase of an experiment that becomes a job, and says what of the others. verl and TRL
// train one phase of the whole model; BuPO's fork trains an inner phase and the whole model after
// it.

import {
  innerTarget,
  type PhaseDocument,
  type RlDocument,
} from '../../document/experiment/fields/phases.ts'
import { type PhaseSettings, settingsOf } from '../../document/experiment/schema/phase_settings.ts'
import type { Experiment } from '../../document/experiment/schema/schema.ts'
import { JobError } from './job_error.ts'
import { EXPORT_FOR, type Target } from './setting.ts'

/** Where a run is; an experiment that has not begun is at step 0 of its first phase. */
export interface Place {
  readonly phase: number
  /** Steps that are done of it. */
  readonly phase_step: number
}

/** What a job trains. */
export interface ChosenPhase {
  /** Index in the experiment's list: of the phase of the whole model. */
  readonly index: number
  readonly phase: RlDocument
  readonly settings: PhaseSettings
  /** Steps of the job, those of an inner phase included. */
  readonly steps: number
  /** An inner phase before it, in the same job. `layer` counts the blocks that are applied. */
  readonly inner?: {
    readonly index: number
    readonly layer: number
    readonly steps: number
    /** As FSDP 1 on several GPUs does. */
    readonly decaysFinalNorm: boolean
  }
}

/** The phase in words, counted from 1. */
export function phaseWords(phase: PhaseDocument, index: number): string {
  const kind = {
    sft: 'warm start',
    reward_model: 'reward model',
    preference: 'preferences',
    distill: 'distillation',
    rl: 'reinforcement',
  }[phase.kind]
  const inner = innerTarget(phase)
  const taught = inner === undefined ? kind : `${kind} of layer ${inner}`
  return `phase ${index + 1} (${taught}, ${phase.steps} steps)`
}

type Candidate = { readonly phase: RlDocument; readonly index: number; readonly steps: number }

/** The phase that a job trains: the one that `wanted` names (an index), else the one of the whole
 * model that is still to come. Throws JobError where there is none, or more than one. */
export function choosePhase(
  experiment: Experiment,
  target: Target,
  place: Place,
  wanted?: number,
): ChosenPhase {
  const all = experiment.phases.flatMap((phase, index): Candidate[] =>
    phase.kind === 'rl' ? [{ phase, index, steps: stepsLeft(phase, index, place) }] : [],
  )
  if (all.length === 0)
    throw new JobError('phases: expected a phase of reinforcement, found none; a job trains one')
  const { phase, index, steps } = theOne(all, wanted)
  const settings = settingsOf(experiment, phase)
  if (target !== 'bupo') return { index, phase, settings, steps }
  const inner = innerBefore(experiment, index, settings, place)
  return { index, phase, settings, steps: steps + inner.steps, inner }
}

/** Whether no phase of reinforcement has steps to come: a job then trains its last one again. */
export const isOver = ({ phases }: Experiment, place: Place): boolean =>
  phases.every((phase, index) => phase.kind !== 'rl' || stepsLeft(phase, index, place) === 0)

function stepsLeft(phase: PhaseDocument, index: number, place: Place): number {
  if (index < place.phase) return 0
  return index === place.phase ? Math.max(0, phase.steps - place.phase_step) : phase.steps
}

/** The way out that another phase is. */
export const SAY_WHICH = 'Say which when you export'
const WITHOUT_INNER = 'Without an inner phase export for verl'

/** A run that is over is trained further, by as many steps as its last phase had. */
function theOne(all: readonly Candidate[], wanted?: number): Candidate {
  if (wanted !== undefined) {
    const found = all.find(({ index }) => index === wanted)
    if (!found)
      throw new JobError(
        `phase: expected the number of a phase of reinforcement (${all.map(({ index }) => index + 1).join(', ')}), found ${wanted + 1}`,
      )
    return found.steps > 0 ? found : { ...found, steps: found.phase.steps }
  }
  const ahead = all.filter(({ steps }) => steps > 0)
  if (ahead.length === 0) {
    const last = all[all.length - 1]
    return { ...last, steps: last.phase.steps }
  }
  const whole = ahead.filter(({ phase }) => phase.target_layer === 'final')
  if (whole.length > 1)
    throw new JobError(
      `phases: a job has one phase of the whole model, and this experiment has ${whole.length}: ${whole.map(({ phase, index }) => phaseWords(phase, index)).join(', ')}. ${SAY_WHICH}`,
    )
  return whole[0] ?? ahead[ahead.length - 1]
}

const FORK =
  'the fork trains one inner layer for its first steps and then the whole model, with the same settings'

function innerBefore(
  experiment: Experiment,
  index: number,
  settings: PhaseSettings,
  place: Place,
): NonNullable<ChosenPhase['inner']> {
  const before = experiment.phases[index - 1]
  if (before?.kind !== 'rl' || before.target_layer === 'final')
    throw new JobError(
      `phases: expected an inner phase before ${phaseWords(experiment.phases[index], index)}, found ${before ? phaseWords(before, index - 1) : 'none'}; ${FORK}. ${WITHOUT_INNER}`,
    )
  if (experiment.phases[index - 2]?.kind === 'rl')
    throw new JobError(
      `phases: expected one phase of reinforcement before ${phaseWords(experiment.phases[index], index)}, found more; ${FORK}`,
    )
  const own = settingsOf(experiment, before)
  const { freeze, lr_factor_above, target_readout, reward_model } = before
  const same =
    JSON.stringify(own) === JSON.stringify(settings) &&
    !freeze.embed_tokens &&
    freeze.layers === null &&
    lr_factor_above.factor === 1 &&
    !reward_model.enable
  if (!same)
    throw new JobError(`phases: ${phaseWords(before, index - 1)} has settings of its own; ${FORK}`)
  if (target_readout !== 'raw')
    throw new JobError(
      `target_readout: expected raw in ${phaseWords(before, index - 1)}, found ${target_readout}; the fork reads an inner layer without the final norm`,
    )
  const steps = stepsLeft(before, index - 1, place)
  if (steps === 0)
    throw new JobError(
      `phases: ${phaseWords(before, index - 1)} is over at this checkpoint; ${EXPORT_FOR.verl}`,
    )
  const { target_layer: layer, decay_final_norm: decaysFinalNorm } = before
  return { index: index - 1, layer, steps, decaysFinalNorm }
}
