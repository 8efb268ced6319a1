// Builds the whole form: every field of an experiment, in the order in which it is shown.

import { DATA, isSelective } from '../../../rl/config/data.ts'
import { PROBE, VALIDATION } from '../../../rl/config/validation.ts'
import { leavesOf } from '../../../rl/fields/field.ts'
import { PROGRAM_ID } from '../../../tasks/task/program.ts'
import { taskParams } from '../fields/curriculum.ts'
import { MODEL } from '../fields/model_fields.ts'
import { KERNELS, ROOT } from '../fields/run_fields.ts'
import { DATASET_ID, TASK_ID, TASK_PARAMS, taskOf } from '../fields/task_fields.ts'
import { TEACHER } from '../fields/teacher_fields.ts'
import { REWARD } from '../lists/reward_schema.ts'
import { TOOLS_INFO, toolOptions, toolsText } from '../lists/tools.ts'
import { hasTrainingSet } from '../schema/epochs.ts'
import { isTaughtByModel } from '../schema/phase_settings.ts'
import type { Experiment } from '../schema/schema.ts'
import { validationHasEffect } from './conditions.ts'
import { type Field, fieldsOf } from './form_fields.ts'
import { sharedFields } from './override_form.ts'
import { phaseFields } from './phase_form.ts'
import { remarksOf } from './remarks.ts'

function taskFields(experiment: Experiment): Field[] {
  const { task } = experiment
  const isData = task.id === DATASET_ID
  // A data set is chosen by its file; the form only names one that is there.
  const data = isData ? [{ value: DATASET_ID, label: `Data set ${task.name}` }] : []
  const id: Field = {
    path: 'task.id',
    group: 'Task',
    ...TASK_ID,
    options: [...data, ...TASK_ID.options],
    value: task.id,
    hasEffect: true,
  }
  const tools: Field = {
    ...TOOLS_INFO,
    path: 'tools',
    group: 'Task',
    options: toolOptions(experiment.tools),
    value: toolsText(experiment.tools),
    hasEffect: true,
  }
  const params = fieldsOf(experiment, 'Task', 'task', leavesOf(TASK_PARAMS.get(task.id)))
  // What is said of a file is said together, where its rows are seen: alone, no change of it would
  // fit the rows.
  return [id, ...(isData ? params.map((field) => ({ ...field, hasEffect: false })) : params), tools]
}

/** The training set, which is no larger than the task, and the parameters that the task has. */
function dataFields(experiment: Experiment): Field[] {
  const { train_size } = taskOf(experiment.task)
  return fieldsOf(experiment, 'Data', 'data', leavesOf(DATA)).map((field): Field => {
    if (field.path === 'data.train_max_samples')
      return { ...field, max: Math.min(train_size, field.max ?? train_size) }
    const hasEffect = dataHasEffect(field.path, experiment)
    if (field.path !== 'data.curriculum.param') return { ...field, hasEffect }
    const params = taskParams(experiment).map(({ name, label }) => ({ value: name, label }))
    const options = [{ value: null, label: 'none' }, ...params]
    const { max: _, ...asked } = field
    return { ...asked, kind: 'select', options, hasEffect }
  })
}

/** A set has an order and a gate, a curriculum a first value. */
function dataHasEffect(path: string, experiment: Experiment): boolean {
  const { curriculum, admission } = experiment.data
  if (path === 'data.curriculum.param') return experiment.phases.some(({ kind }) => kind === 'rl')
  if (path.startsWith('data.curriculum.')) return curriculum.param !== null
  const needsGate = path === 'data.admission.retry_epochs'
  return hasTrainingSet(experiment) && (!needsGate || isSelective(admission))
}

/** An adapter's settings need an adapter, a dtype of frozen matrices some that are frozen, one of
 * kept activations that they are kept. */
function modelHasEffect(path: string, experiment: Experiment): boolean {
  const { model, phases } = experiment
  const hasAdapter = model.lora.r > 0
  const { trainable, source } = model.steering_vectors
  if (path.startsWith('model.steering_vectors.') && !path.endsWith('.trainable'))
    return trainable && (!/strength$|_name$/.test(path) || source !== null)
  const lens = /lenses\.(\w+)/.exec(path)
  // A reading is named so in any phase, or of layers that learn along.
  if (lens) return JSON.stringify([phases, experiment.actor]).includes(`"${lens[1]}"`)
  if (path === 'model.activations_dtype') return !model.enable_gradient_checkpointing
  if (path === 'model.dtype')
    return (
      hasAdapter ||
      trainable ||
      phases.some((phase) => 'freeze' in phase && phase.freeze.layers !== null)
    )
  return !/^model\.lora\.(?!r$)/.test(path) || hasAdapter
}

/** Every field of an experiment, in the order of a form. */
export function experimentFields(experiment: Experiment): Field[] {
  const section = (group: string, path: string, tree: unknown) =>
    fieldsOf(experiment, group, path, leavesOf(tree))
  const length = taskOf(experiment.task).max_response_length
  const remarks = new Map(remarksOf(experiment).map(({ path, message }) => [path, message]))
  const fields = [
    ...section('Experiment', '', ROOT),
    ...taskFields(experiment),
    ...dataFields(experiment),
    ...section('Reward', 'reward', REWARD).map((field) => ({
      ...field,
      hasEffect: [...experiment.reward.parts, ...experiment.tools].some(
        ({ id }) => id === PROGRAM_ID,
      ),
    })),
    ...section('Model', 'model', MODEL).map((field) => ({
      ...field,
      hasEffect: modelHasEffect(field.path, experiment),
    })),
    ...section('Teacher', 'teacher', TEACHER).map((field) => ({
      ...field,
      hasEffect: experiment.phases.some((phase) => isTaughtByModel(experiment, phase)),
    })),
    ...experiment.phases.flatMap((_, i) => phaseFields(experiment, i)),
    ...sharedFields(experiment).map((field) =>
      field.path === 'rollout.max_response_length'
        ? { ...field, min: length, default: length }
        : field,
    ),
    ...section('Validation', 'validation', VALIDATION).map((field) => ({
      ...field,
      hasEffect: validationHasEffect(field.path.slice('validation.'.length), experiment.validation),
    })),
    ...section('Probe', 'probe', PROBE),
    ...section('Kernels', '', KERNELS),
  ]
  return fields.map((field) => {
    const remark = remarks.get(field.path)
    return remark === undefined ? field : { ...field, remark }
  })
}
