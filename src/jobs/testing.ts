// Makes jobs of presets for tests; never shipped.

import { parseExperiment } from '../document/experiment/experiment.ts'
import { taskOf } from '../document/experiment/fields/task_fields.ts'
import { onDataSet } from '../document/experiment/on_data_set.ts'
import type { Experiment } from '../document/experiment/schema/schema.ts'
import { trainerConfig } from '../document/experiment/trainer_config.ts'
import { presetOf } from '../document/presets/presets.ts'
import { modelShape } from '../model/layout/config.ts'
import { initialWeights, paramLayout } from '../model/layout/params.ts'
import { choiceOf, loadDataFiles, prepareFiles } from '../tasks/data/load_data.ts'
import { USUAL_PLAN } from '../tasks/data/plan.ts'
import { readRows } from '../tasks/data/readers/readers.ts'
import { proposeMapping } from '../tasks/data/rows/propose.ts'
import { makeJob } from './job_files.ts'
import type { Job, JobOptions, JobSource } from './job_spec.ts'
import { trainRows } from './rows/rows.ts'
import { JobError } from './settings/job_error.ts'
import { choosePhase } from './settings/phase_choice.ts'
import type { JobFacts, Target, VerlVersion } from './settings/setting.ts'
import { trlArguments } from './trl_arguments.ts'
import { bupoCommand, type VerlJob, verlCommand } from './verl_arguments.ts'

/** An untrained experiment, as the command line exports it. */
export const sourceOf = (experiment: Experiment): JobSource => ({
  experiment,
  vocabulary: taskOf(experiment.task).tokenizer,
  understory: '0.0.0',
  policy: undefined,
  place: { phase: 0, phase_step: 0 },
  step: 0,
  firstProblem: 0,
})

export const experimentOf = (document: object): Experiment => {
  const parsed = parseExperiment(document)
  if (!parsed.ok) throw new RangeError(JSON.stringify(parsed.issues))
  return parsed.experiment
}

/** The same experiment, which trains steering vectors alone. */
export const withVectors = (experiment: Experiment): Experiment => {
  const { model } = experiment
  const steering_vectors = { ...model.steering_vectors, trainable: true }
  return experimentOf({ ...experiment, model: { ...model, steering_vectors } })
}

/** What a job of a preset says when it is refused, else its files by path. */
export function filesOf(experiment: Experiment, options: Partial<JobOptions> = {}) {
  const options09 = { target: 'verl', verl: '0.9', ...options } as const
  return textsOf(makeJob(sourceOf(experiment), options09))
}

/** The files of a job by path. */
export function textsOf({ files, warnings }: Job) {
  const text = new Map(
    files.map(({ path, pieces }) => [path, Buffer.concat([...pieces]).toString('utf8')]),
  )
  return { files, warnings, text }
}

/** The sentence that refuses a preset, or the names and values of its command. */
export function commandOf(
  id: string,
  target: Target,
  version: VerlVersion,
): string | ReadonlyMap<string, unknown> {
  const experiment = presetOf(id)?.experiment
  if (!experiment) throw new RangeError(`no preset ${id}`)
  try {
    const { phase, settings, steps, ...chosen } = choosePhase(experiment, target, {
      phase: 0,
      phase_step: 0,
    })
    const { rollout, actor } = settings
    const updates = (rollout.train_batch_size / actor.ppo_mini_batch_size) * actor.ppo_epochs
    const facts: JobFacts = { experiment, phase, settings, steps, updates }
    const task = taskOf(experiment.task)
    const rows = trainRows({ data: experiment.data, count: steps * rollout.train_batch_size })
    const whole = { phase, settings, steps, ...chosen }
    const job: VerlJob = { facts, chosen: whole, task, rows, hasCriticFolder: false }
    const { refused, arguments: own } =
      target === 'trl'
        ? trlArguments(facts)
        : target === 'bupo'
          ? bupoCommand(job)
          : verlCommand(job, version)
    return refused.length > 0 ? refused.map(({ path, why }) => `${path}: ${why}`).join('; ') : own
  } catch (error) {
    if (error instanceof JobError) return error.message
    throw error
  }
}

/** A model of two layers and one of three that teaches it. */
export const taughtDocument = () => ({
  task: { id: 'sort_digits' },
  model: { ...SMALL, hidden_size: 16, num_hidden_layers: 2 },
  teacher: {
    ...SMALL,
    hidden_size: 24,
    num_hidden_layers: 3,
    source: `sha256-${'9'.repeat(64)}`,
    source_name: 'large',
  },
})

/** A phase in which the one teaches the other. */
export const distilled = (settings: object, change: object = {}): Experiment =>
  experimentOf({
    ...taughtDocument(),
    phases: [
      {
        kind: 'distill',
        steps: 3,
        batch_size: 4,
        distillation: { teacher: 'model', ...settings },
        ...change,
      },
    ],
  })

const SMALL = {
  head_dim: 8,
  intermediate_size: 16,
  num_attention_heads: 2,
  num_key_value_heads: 1,
}

/** The same with weights of the teacher. */
export function taughtSource(experiment: Experiment): JobSource {
  const { teacher } = trainerConfig(experiment)
  if (!teacher) throw new RangeError('expected a teacher')
  return { ...sourceOf(experiment), teacher: initialWeights(paramLayout(modelShape(teacher)), 7) }
}

/** The better answer is the digits themselves, the worse one is zero. */
export const PAIRS = Array.from({ length: 20 }, (_, i) => ({
  prompt: `${i + 11}=`,
  chosen: `${i + 11}`,
  rejected: '0',
}))

/** Of even prompts the good answer, of others the bad one. */
export const VERDICTS = PAIRS.map(({ prompt, chosen, rejected }, i) => ({
  prompt,
  completion: i % 2 === 0 ? chosen : rejected,
  label: i % 2 === 0,
}))

/** A phase of two steps on these rows, whose files are loaded. */
export async function onRows(
  rows: readonly object[],
  preference: object,
  change: object = {},
): Promise<Experiment> {
  const bytes = new TextEncoder().encode(JSON.stringify(rows))
  const file = { name: 'rows.json', bytes }
  const plan = { ...USUAL_PLAN, ...proposeMapping((await readRows(file)).table) }
  const names = {
    data: `sha256-${'8'.repeat(64)}`,
    name: file.name,
    val_data: null,
    val_name: null,
  }
  const choice = choiceOf(names, plan, await prepareFiles(file, undefined, plan))
  await loadDataFiles(choice, file, undefined)
  const pairs = { source: 'file', count: 256, held_out: 64 }
  const phase = { kind: 'preference', steps: 2, batch_size: 4, pairs, preference, ...change }
  const model = { hidden_size: 16, num_hidden_layers: 2, head_dim: 8, intermediate_size: 16 }
  const heads = { num_attention_heads: 2, num_key_value_heads: 1 }
  const document = { model: { ...model, ...heads }, phases: [phase] }
  return experimentOf({ ...document, ...onDataSet(document, choice).fields })
}
