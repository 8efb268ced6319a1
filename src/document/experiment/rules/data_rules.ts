// The rules about the training set: it fits the task, batches fit it, and epochs can be counted.
import { hasSet } from '../../../rl/config/data.ts'
import type { Task } from '../../../tasks/task.ts'
import { batchOf, epochSteps } from '../epochs.ts'
import { MAX_STEPS } from '../fields/phase_fields.ts'
import { valueAt } from '../paths.ts'
import { settingsOf } from '../phase_settings.ts'
import { isPairedDocument } from '../phases.ts'
import type { Experiment } from '../schema.ts'
import type { Rule } from './rule.ts'

/** Every rule about the training set. */
export function dataRules(experiment: Experiment, { train_size }: Task, rule: Rule): void {
  const { data, phases } = experiment
  const { train_max_samples: size } = data
  const task = Object.keys(experiment.task).map((name) => `task.${name}`)
  rule(
    size === null || size <= train_size,
    'data.train_max_samples',
    task,
    `expected null (no set, endless draws) or 1 to ${train_size}, because the task has ${train_size} training problems; got ${size}`,
  )
  phases.forEach((phase, i) => {
    if (isPairedDocument(phase)) return
    const at = `phases.${i}`
    const { epochs } = phase
    const name = phase.kind !== 'rl' ? `${at}.batch_size` : 'rollout.train_batch_size'
    const own = `${at}.${name}`
    const path = phase.kind === 'rl' && valueAt(phase, name) !== undefined ? own : name
    const batch = batchOf(experiment, phase)
    rule(
      size === null || batch <= size,
      path,
      ['data.train_max_samples'],
      `expected at most ${size}, the size of the training set (data.train_max_samples), because a batch takes each problem at most once; got ${batch}`,
    )
    rule(
      epochs === null || hasSet(data),
      `${at}.epochs`,
      ['data.train_max_samples'],
      `expected null, because endless draws have no epochs; for epochs set data.train_max_samples to a number of problems first; got ${epochs}`,
    )
    const steps = (epochs ?? 0) * epochSteps(experiment, phase)
    rule(
      steps <= MAX_STEPS,
      `${at}.epochs`,
      ['data.train_max_samples', path],
      `expected at most ${MAX_STEPS} steps, because no phase has more; got ${epochs} epochs, which are ${steps} steps`,
    )
    rule(
      epochs === null ||
        phase.kind !== 'rl' ||
        !settingsOf(experiment, phase).algorithm.filter_groups.enable,
      `${at}.epochs`,
      ['algorithm.filter_groups.enable', `${at}.algorithm.filter_groups.enable`],
      `expected null, because with dynamic sampling (filter_groups) a step draws as many batches as it needs, so no number of steps is a whole number of epochs; got ${epochs}`,
    )
  })
}
