// Writes the arguments of TRL's trainers of preferences, and what they cannot run. Source: trl
// 1.13.0.
import { taskOf } from '../../document/experiment/fields/task_fields.ts'
import type { Experiment } from '../../document/experiment/schema/schema.ts'
import type { TrlTrainer } from '../../rl/preferences/losses/preference_loss.ts'
import { preferenceLossOf } from '../../rl/preferences/losses.ts'
import type { Note } from './carry.ts'
import type { ChosenPreference } from './trl_phase.ts'
import { notesOf, trainingArguments, trainingLosses, trainingRefusals } from './trl_training.ts'

/** Where each trainer is, and its configuration. */
export const TRL_TRAINERS: Readonly<
  Record<TrlTrainer, { readonly module: string; readonly config: string }>
> = {
  DPOTrainer: { module: 'trl', config: 'DPOConfig' },
  KTOTrainer: { module: 'trl', config: 'KTOConfig' },
  CPOTrainer: { module: 'trl.experimental.cpo', config: 'CPOConfig' },
  ORPOTrainer: { module: 'trl.experimental.orpo', config: 'ORPOConfig' },
}

/** Losses whose label smoothing DPOTrainer does not read. */
const UNSMOOTHED = ['sigmoid', 'sigmoid_norm']

export const trainerOf = ({ phase }: ChosenPreference): TrlTrainer =>
  preferenceLossOf(phase.preference.loss_type).trl.trainer

type Told = Readonly<Record<string, unknown>>

/** The objective in the trainer's own names. */
function objectiveOf({ phase }: ChosenPreference): Told {
  const { preference } = phase
  const { trl, numbers } = preferenceLossOf(preference.loss_type)
  const own = Object.fromEntries(
    numbers
      .filter((name) => name !== 'label_smoothing' || !UNSMOOTHED.includes(preference.loss_type))
      .map((name) => [name, preference[name]]),
  )
  if (trl.trainer !== 'DPOTrainer') return { ...(trl.loss_type && trl), ...own, trainer: undefined }
  const { rpo_alpha, f_divergence_type, f_alpha_divergence_coef, ld_alpha } = preference
  const imitates = rpo_alpha > 0
  return {
    loss_type: imitates ? [trl.loss_type, 'sft'] : [trl.loss_type],
    ...(imitates && { loss_weights: [1, rpo_alpha] }),
    ...own,
    f_divergence_type,
    ...(f_divergence_type === 'alpha_divergence' && { f_alpha_divergence_coef }),
    ...(ld_alpha !== 1 && { ld_alpha }),
    use_weighting: preference.use_weighting,
  }
}

/** Everything that the trainer is told. */
export function preferenceArguments(
  experiment: Experiment,
  chosen: ChosenPreference,
  hasVal: boolean,
): ReadonlyMap<string, unknown> {
  const { phase, steps } = chosen
  const task = taskOf(experiment.task)
  const { test_freq } = experiment.validation
  const isSingle = preferenceLossOf(phase.preference.loss_type).data === 'answers'
  const batch = phase.batch_size * (isSingle ? 2 : 1)
  const told = {
    output_dir: 'out',
    run_name: experiment.name ?? 'understory',
    seed: experiment.seed,
    ...objectiveOf(chosen),
    max_length: task.max_prompt_length + task.max_response_length,
    per_device_eval_batch_size: batch,
    eval_strategy: hasVal && test_freq !== null ? 'steps' : 'no',
    eval_steps: hasVal && test_freq !== null ? test_freq : undefined,
    ...trainingArguments(experiment, phase, { steps, batch }),
  }
  return new Map(Object.entries(told).filter(([, value]) => value !== undefined))
}

/** What the trainer cannot run, each with a way out. */
export function preferenceRefusals(experiment: Experiment, chosen: ChosenPreference): Note[] {
  const { phase, index } = chosen
  const { preference } = phase
  const { loss_type, rpo_alpha, label_smoothing } = preference
  const trainer = trainerOf(chosen)
  const at = `phases.${index}`
  return notesOf([
    ...trainingRefusals(phase, at),
    [
      phase.refresh_steps === null,
      `${at}.refresh_steps`,
      phase.refresh_steps,
      `${trainer} trains on pairs that are there; set it to null to train on those that the run has made`,
    ],
    [
      label_smoothing === 0 || !UNSMOOTHED.includes(loss_type),
      `${at}.preference.label_smoothing`,
      label_smoothing,
      `TRL 1.13 ignores it with the loss ${loss_type}; the loss robust has it`,
    ],
    [
      !preference.reference_free,
      `${at}.preference.reference_free`,
      true,
      'TRL 1.13 no longer has it; the loss cpo has no reference',
    ],
    [
      rpo_alpha === 0 || trainer === 'DPOTrainer',
      `${at}.preference.rpo_alpha`,
      rpo_alpha,
      `${trainer} adds no such loss; ${trainer === 'CPOTrainer' ? 'cpo_alpha is its own' : 'set it to 0'}`,
    ],
    [
      rpo_alpha === 0 || !preference.use_weighting,
      `${at}.preference.use_weighting`,
      true,
      'TRL 1.13 fails where it is used with imitation (rpo_alpha)',
    ],
    [
      !experiment.model.steering_vectors.trainable,
      'model.steering_vectors.trainable',
      true,
      'TRL trains no steering vectors on a frozen model; set it to false',
    ],
    [
      experiment.model.lora.r === 0,
      'model.lora.r',
      experiment.model.lora.r,
      'the reference of an adapter is its base here, and in TRL a copy of the adapter; train all weights',
    ],
  ])
}

/** What is left out or does otherwise there. */
export function preferenceLosses(experiment: Experiment, chosen: ChosenPreference): Note[] {
  const { phase, index } = chosen
  const trainer = trainerOf(chosen)
  const at = `phases.${index}`
  const heldOut = 'it samples no answers to held-out prompts; held-out pairs are evaluated'
  return notesOf([
    ...trainingLosses(experiment, phase, at, heldOut),
    [
      trainer !== 'ORPOTrainer',
      `${at}.preference.loss_type`,
      'orpo',
      'its cross-entropy is of prompts too, here of the answers alone',
    ],
    [
      trainer !== 'CPOTrainer' && trainer !== 'ORPOTrainer',
      `${at}.preference.loss_type`,
      phase.preference.loss_type,
      `${trainer} is in trl.experimental, which may change with every release`,
    ],
  ])
}
