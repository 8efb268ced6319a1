// Checks the rules about the training set: it fits the task, batches fit it, and epochs can be
// counted.
import { hasSet, isSelective } from '../../../rl/config/data.ts'
import type { Task } from '../../../tasks/task/task.ts'
import { firstValue, fitsTask, taskParams } from '../fields/curriculum.ts'
import { valueAt } from '../fields/paths.ts'
import { MAX_STEPS } from '../fields/phase_fields.ts'
import { isPairedDocument } from '../fields/phases.ts'
import { batchOf, epochSteps } from '../schema/epochs.ts'
import { settingsOf } from '../schema/phase_settings.ts'
import type { Experiment } from '../schema/schema.ts'
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
  curriculumRules(experiment, rule)
  admissionRules(experiment, rule)
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

/** A curriculum is over a parameter of the task, from a smaller value on, and one model reads its
 * levels. */
function curriculumRules(experiment: Experiment, rule: Rule): void {
  const { task, data } = experiment
  const { param, start } = data.curriculum
  if (param === null) return
  const params = taskParams(experiment)
  const found = params.find(({ name }) => name === param)
  const names = params.map(({ name }) => name).join(', ')
  rule(
    found !== undefined,
    'data.curriculum.param',
    ['task.id'],
    `expected ${names === '' ? 'nothing, because the task has no parameter' : `a parameter of the task (${names}), or nothing`}; got '${param}'`,
  )
  if (!found) return
  const own = Number(task[param])
  const first = firstValue(found, own)
  rule(
    first < own,
    'data.curriculum.param',
    [`task.${param}`],
    `expected a parameter that can be smaller, because it rises to the task’s own value; ${param} is ${own}, its smallest`,
  )
  if (first === own) return
  const begins = start ?? first
  const isStep = Number.isInteger((begins - found.min) / found.step)
  const fits = begins >= first && begins < own && isStep
  rule(
    fits,
    'data.curriculum.start',
    [`task.${param}`, 'data.curriculum.param'],
    `expected a value of ${param} from ${first} to below ${own}, the task's own, because it rises from there; got ${begins}`,
  )
  if (!fits) return
  rule(
    fitsTask(experiment),
    'data.curriculum.param',
    ['task.id'],
    `expected a parameter whose smaller values make shorter problems that the task itself scores, because one model and one verifier serve them all; got '${param}'`,
  )
}

/** Problems can be left out of a set alone, and a gate lets some through. */
function admissionRules(experiment: Experiment, rule: Rule): void {
  const { data, phases } = experiment
  const { min_rate, max_rate } = data.admission
  if (!isSelective(data.admission)) return
  const name = min_rate > 0 ? 'min_rate' : 'max_rate'
  const at = `data.admission.${name}`
  rule(
    hasSet(data),
    at,
    ['data.train_max_samples'],
    `expected ${name === 'min_rate' ? 0 : 1}, because endless draws bring no problem again whose success was measured; set data.train_max_samples to a number of problems first; got ${data.admission[name]}`,
  )
  rule(
    min_rate < max_rate,
    'data.admission.min_rate',
    ['data.admission.max_rate'],
    `expected less than max_rate (${max_rate}), because no problem passes such a gate; got ${min_rate}`,
  )
  phases.forEach((phase, i) => {
    if (phase.kind !== 'rl') return
    rule(
      phase.epochs === null,
      `phases.${i}.epochs`,
      [at],
      `expected null, because problems are left out (data.admission), so no number of steps is a whole number of epochs; got ${phase.epochs}`,
    )
    rule(
      !settingsOf(experiment, phase).algorithm.filter_groups.enable,
      at,
      ['algorithm.filter_groups.enable', `phases.${i}.algorithm.filter_groups.enable`],
      `expected ${name === 'min_rate' ? 0 : 1}, because dynamic sampling (filter_groups) leaves out such problems already, and without measuring them; got ${data.admission[name]}`,
    )
  })
}
