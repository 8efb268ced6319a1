// Counts the steps of phases that say how often they go through a finite training set.
import { hasSet, stepsPerEpoch } from '../../../rl/config/data.ts'
import { MAX_STEPS } from '../fields/phase_fields.ts'
import { type BatchedDocument, isPairedDocument, type PhaseDocument } from '../fields/phases.ts'
import { settingsOf } from './phase_settings.ts'
import type { Experiment } from './schema.ts'

/** Problems of a step. */
export const batchOf = (experiment: Experiment, phase: BatchedDocument): number =>
  phase.kind === 'sft' || phase.kind === 'distill'
    ? phase.batch_size
    : settingsOf(experiment, phase).rollout.train_batch_size

/** Steps of one epoch of a phase; 0 without a training set, or with a smaller one than a batch. */
export const epochSteps = (experiment: Experiment, phase: BatchedDocument): number =>
  stepsPerEpoch(experiment.data, batchOf(experiment, phase))

/** The experiment with the steps of every phase that says its epochs: verl's total_epochs times
 * whole batches. */
export function withEpochs(experiment: Experiment): Experiment {
  const counted = (phase: PhaseDocument): PhaseDocument => {
    if (isPairedDocument(phase) || phase.epochs === null) return phase
    const steps = phase.epochs * epochSteps(experiment, phase)
    // The rules refuse what is none.
    return steps >= 1 && steps <= MAX_STEPS ? { ...phase, steps } : phase
  }
  return { ...experiment, phases: experiment.phases.map(counted) }
}

/** How many steps the epochs of a phase come to, in words. */
export function epochWords(experiment: Experiment, phase: BatchedDocument): string {
  const one = epochSteps(experiment, phase)
  const { train_max_samples } = experiment.data
  const batches = `An epoch of ${train_max_samples} problems is ${one} steps of ${batchOf(experiment, phase)}`
  return phase.epochs === null
    ? `${batches}.`
    : `${batches}, so ${phase.epochs} × ${one} = ${phase.steps} steps.`
}

/** Whether there is a set that a phase could go through. */
export const hasTrainingSet = ({ data }: Experiment): boolean => hasSet(data)
