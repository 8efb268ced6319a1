// Writes the arguments of TRL's GKDTrainer, and what it cannot run. Source: trl 1.13.0,
// trl/experimental/gkd.
import { taskOf } from '../../document/experiment/fields/task_fields.ts'
import type { Experiment } from '../../document/experiment/schema/schema.ts'
import type { Note } from './carry.ts'
import type { ChosenDistillation } from './trl_phase.ts'
import { notesOf, trainingArguments, trainingLosses, trainingRefusals } from './trl_training.ts'

/** Everything that the trainer is told. */
export function distillArguments(
  experiment: Experiment,
  { phase, steps }: ChosenDistillation,
): ReadonlyMap<string, unknown> {
  const { lmbda, beta, temperature, seq_kd } = phase.distillation
  const { max_prompt_length, max_response_length } = taskOf(experiment.task)
  const told = {
    output_dir: 'out',
    run_name: experiment.name ?? 'understory',
    seed: experiment.seed,
    lmbda,
    beta,
    temperature,
    seq_kd,
    max_new_tokens: max_response_length,
    max_length: max_prompt_length + max_response_length,
    // The rows are in the order in which the lab would draw them.
    train_sampling_strategy: 'sequential',
    ...trainingArguments(experiment, phase, { steps, batch: phase.batch_size }),
  }
  return new Map(Object.entries(told).filter(([, value]) => value !== undefined))
}

/** What the trainer cannot run, each with a way out. */
export function distillRefusals(experiment: Experiment, chosen: ChosenDistillation): Note[] {
  const { phase, index } = chosen
  const { teacher, crossentropy_weight } = phase.distillation
  const at = `phases.${index}`
  return notesOf([
    ...trainingRefusals(phase, at),
    [
      teacher === 'model',
      `${at}.distillation.teacher`,
      teacher,
      'GKDTrainer takes its teacher from files and knows none inside the model; choose another model (model)',
    ],
    [
      phase.layers === null,
      `${at}.layers`,
      phase.layers,
      'it teaches the whole model alone; train inner layers here',
    ],
    [
      crossentropy_weight === 0,
      `${at}.distillation.crossentropy_weight`,
      crossentropy_weight,
      'GKDTrainer has no cross-entropy beside its divergence; set it to 0',
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
      'the script trains all weights; set it to 0',
    ],
  ])
}

/** What is left out or does otherwise there. */
export function distillLosses(experiment: Experiment, chosen: ChosenDistillation): Note[] {
  const { phase, index } = chosen
  const { lmbda, seq_kd } = phase.distillation
  const at = `phases.${index}`
  const heldOut = 'it does not sample answers to held-out prompts'
  return notesOf([
    ...trainingLosses(experiment, phase, at, heldOut),
    [
      lmbda === 0 || lmbda === 1,
      `${at}.distillation.lmbda`,
      lmbda,
      'it draws with Python’s random numbers which steps are on own samples, so they are other steps',
    ],
    [
      lmbda === 0 && !seq_kd,
      `${at}.distillation.lmbda`,
      lmbda,
      'where a step samples, its loss is divided by the tokens of the demonstrations in place of the samples’: its gradient has another size, which AdamW takes out again',
    ],
  ])
}
