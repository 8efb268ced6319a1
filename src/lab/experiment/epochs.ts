// Phases that say how often they go through a finite training set: how many steps that is, and the rules about it.
import { hasSet, stepsPerEpoch } from '../../rl/config/data.ts'
import type { Task } from '../../tasks/task.ts'
import { valueAt } from './paths.ts'
import { settingsOf } from './phase_settings.ts'
import type { Rule } from './rule.ts'
import { type Experiment, MAX_STEPS, type PhaseDocument } from './schema.ts'

/** Phases that go through the training set in batches. */
type Batched = Exclude<PhaseDocument, { readonly kind: 'reward_model' }>

/** Problems of a step. */
const batchOf = (experiment: Experiment, phase: Batched): number =>
  phase.kind === 'sft' ? phase.batch_size : settingsOf(experiment, phase).rollout.train_batch_size

/** Steps of one epoch of a phase; 0 without a training set, or with a smaller one than a batch. */
const epochSteps = (experiment: Experiment, phase: Batched): number =>
  stepsPerEpoch(experiment.data, batchOf(experiment, phase))

/** The experiment with the steps of every phase that says its epochs: verl's total_epochs times whole batches. */
export function withEpochs(experiment: Experiment): Experiment {
  const counted = (phase: PhaseDocument): PhaseDocument => {
    if (phase.kind === 'reward_model' || phase.epochs === 0) return phase
    const steps = phase.epochs * epochSteps(experiment, phase)
    // The rules refuse what is none.
    return steps >= 1 && steps <= MAX_STEPS ? { ...phase, steps } : phase
  }
  return { ...experiment, phases: experiment.phases.map(counted) }
}

/** What the epochs of a phase come to, for whoever types them. */
export function epochWords(experiment: Experiment, phase: Batched): string {
  const one = epochSteps(experiment, phase)
  const { train_max_samples } = experiment.data
  const batches = `An epoch of ${train_max_samples} problems is ${one} steps of ${batchOf(experiment, phase)}`
  return phase.epochs === 0
    ? `${batches}.`
    : `${batches}, so ${phase.epochs} × ${one} = ${phase.steps} steps.`
}

/** Whether there is a set that a phase could go through. */
export const hasTrainingSet = ({ data }: Experiment): boolean => hasSet(data)

/** The training set fits the task, batches fit the set, and epochs can be counted. */
export function dataRules(experiment: Experiment, { train_size }: Task, rule: Rule): void {
  const { data, phases } = experiment
  const { train_max_samples: size } = data
  const task = Object.keys(experiment.task).map((name) => `task.${name}`)
  rule(
    size === -1 || (size >= 1 && size <= train_size),
    'data.train_max_samples',
    task,
    `expected -1 (no set, endless draws) or 1 to ${train_size}, because the task has ${train_size} training problems; got ${size}`,
  )
  phases.forEach((phase, i) => {
    if (phase.kind === 'reward_model') return
    const at = `phases.${i}`
    const { epochs } = phase
    const name = phase.kind === 'sft' ? `${at}.batch_size` : 'rollout.train_batch_size'
    const own = `${at}.${name}`
    const path = phase.kind === 'rl' && valueAt(phase, name) !== undefined ? own : name
    const batch = batchOf(experiment, phase)
    rule(
      !hasSet(data) || batch <= size,
      path,
      ['data.train_max_samples'],
      `expected at most ${size}, the size of the training set (data.train_max_samples), because a batch takes each problem at most once; got ${batch}`,
    )
    rule(
      epochs === 0 || hasSet(data),
      `${at}.epochs`,
      ['data.train_max_samples'],
      `expected 0, because endless draws have no epochs; for epochs set data.train_max_samples to a number of problems first; got ${epochs}`,
    )
    const steps = epochs * epochSteps(experiment, phase)
    rule(
      steps <= MAX_STEPS,
      `${at}.epochs`,
      ['data.train_max_samples', path],
      `expected at most ${MAX_STEPS} steps, because no phase has more; got ${epochs} epochs, which are ${steps} steps`,
    )
    rule(
      epochs === 0 ||
        phase.kind === 'sft' ||
        !settingsOf(experiment, phase).algorithm.filter_groups.enable,
      `${at}.epochs`,
      ['algorithm.filter_groups.enable', `${at}.algorithm.filter_groups.enable`],
      `expected 0, because with dynamic sampling (filter_groups) a step draws as many batches as it needs, so no number of steps is a whole number of epochs; got ${epochs}`,
    )
  })
}
