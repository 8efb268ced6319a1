// Writes the models of a job or a run as folders, whatever they come from.

import { shortHash } from '../document/content/content.ts'
import { modelConfig } from '../document/experiment/fields/model_fields.ts'
import { taskOf } from '../document/experiment/fields/task_fields.ts'
import { teacherConfig } from '../document/experiment/fields/teacher_fields.ts'
import type { Experiment } from '../document/experiment/schema/schema.ts'
import type { OutFile } from '../formats/out_file.ts'
import { CHAT_TEMPLATE, hasNewline } from '../formats/write_tokenizer.ts'
import type { SteeredState } from '../host/checkpoints/file/checkpoint.ts'
import {
  adapterOf as adapterIn,
  mergedPolicy as merged,
} from '../host/checkpoints/merged_policy.ts'
import { firstNonfinite } from '../host/checkpoints/sound.ts'
import { adapterFiles } from '../model/hf/write_adapter.ts'
import { modelFiles } from '../model/hf/write_model.ts'
import { bareConfig, modelShape } from '../model/layout/config.ts'
import { type Head, initialWeights, paramLayout } from '../model/layout/params.ts'
import type { PreferencesState } from '../rl/reward/preferences.ts'
import type { Task } from '../tasks/task/task.ts'
import type { Tokenizer } from '../tasks/tokenizers/tokenizer.ts'
import { JobError } from './settings/job_error.ts'
import type { Place } from './settings/phase_choice.ts'
import type { Target } from './settings/setting.ts'

/** What is written of a run or an experiment. Weights are in the flat layout of their head. */
export interface ModelSource {
  readonly experiment: Experiment
  readonly vocabulary: Tokenizer
  /** Undefined = as the experiment begins, from its seed. */
  readonly policy: Float32Array | undefined
  /** The factors of the adapter that is trained, where the policy is its frozen base; undefined =
   * as the experiment begins. */
  readonly adapter?: Float32Array | undefined
  readonly critic?: Float32Array | undefined
  readonly reward_model?: Float32Array | undefined
  /** Weights of another model that teaches, in its own layout. */
  readonly teacher?: Float32Array | undefined
  readonly place: Place
  /** What was done by hand before; undefined = what the experiment says. */
  readonly changes?: Experiment['steering'] | undefined
  /** Training steps behind the weights; undefined = they were given by hand. */
  readonly step: number | undefined
  /** Training problems that were drawn before. */
  readonly firstProblem: number
  /** The pairs of the phase that was taught by pairs last, and its index. */
  readonly pairs?: { readonly of: number; readonly state: PreferencesState } | undefined
}

/** An experiment as it begins; `policy` = weights that were given by hand. */
export const experimentSource = (experiment: Experiment, policy?: Float32Array): ModelSource => ({
  experiment,
  vocabulary: taskOf(experiment.task).tokenizer,
  policy,
  place: { phase: 0, phase_step: 0 },
  step: policy === undefined ? 0 : undefined,
  firstProblem: 0,
})

/** A run where a checkpoint has it. Throws JobError where weights are not finite. */
export function checkpointSource({
  trainer,
  experiment,
  document,
  done,
}: SteeredState): ModelSource {
  const { actor, critic, reward_model, phase, phase_step, step, sample_index } = trainer
  const { pairs_of, preferences } = trainer
  // Before their first steps both are no more than random weights.
  const models = {
    policy: actor.weights,
    adapter: actor.adapter,
    critic: trainer.critic_step > 0 ? critic?.weights : undefined,
    reward_model: trainer.pairs_of === null ? undefined : reward_model?.weights,
    teacher: trainer.teacher,
  }
  for (const [name, own] of Object.entries(models)) if (own) requireFinite(name, own)
  return {
    experiment,
    vocabulary: taskOf(experiment.task).tokenizer,
    step,
    ...models,
    place: { phase, phase_step },
    changes: document.steering.slice(0, done),
    firstProblem: sample_index,
    ...(pairs_of !== null && preferences && { pairs: { of: pairs_of, state: preferences } }),
  }
}

function requireFinite(name: string, weights: Float32Array): void {
  const at = firstNonfinite(weights)
  if (at >= 0)
    throw new JobError(
      `${name}: expected finite weights, found ${weights[at]}; export a checkpoint from before`,
    )
}

/** vLLM's attention serves heads of these widths; it refuses a model with others when it starts. */
const SERVED_HEADS = [32, 64, 96, 128, 160, 192, 224, 256]

/** The files of `model/`, of `adapter/` where the policy is one on a frozen base, and of `critic/`
 * where there is one. */
export function modelFolders(given: ModelSource, task: Task): OutFile[] {
  const source = { ...given, vocabulary: jobVocabulary(given.vocabulary, task) }
  const { critic } = source
  const base = policyFiles(source, task)
  return [
    ...below('model', base),
    ...(adapterOf(source) ? below('adapter', policyAdapter(source, '../model')) : []),
    ...(critic ? below('critic', headFiles(source, task, 'value_head', critic)) : []),
  ]
}

/** The files of `teacher/`: another model that teaches, with the tokenizer of the task. Throws
 * JobError where its weights are not there. */
export function teacherFolder(given: ModelSource, task: Task): OutFile[] {
  const { experiment, teacher: weights } = given
  const { source, source_name } = experiment.teacher
  const vocabulary = jobVocabulary(given.vocabulary, task)
  const config = teacherConfig(experiment.teacher, task.tokenizer.vocab_size)
  if (!weights || !config)
    throw new JobError(
      `teacher.source is ${source_name ?? source}: its weights are no part of the settings. Export a run or a checkpoint, which has them, or name its folder with --teacher PATH`,
    )
  const layout = paramLayout(modelShape(config))
  const written = { config, layout, vocabulary, weights }
  const longest = task.max_prompt_length + task.max_response_length
  return below('teacher', modelFiles({ ...written, max_position_embeddings: positions(longest) }))
}

/** What is in that folder. */
export const teacherWords = ({ teacher }: Experiment): string =>
  `\`teacher/\`: ${teacher.source_name ?? teacher.source}, with the tokenizer of the student.`

/** The tokenizer of a job. verl and TRL put every prompt through its chat template. Where the lab
 * reads prompts as they are, the template therefore writes the texts of messages and nothing
 * else. */
function jobVocabulary(vocabulary: Tokenizer, task: Task): Tokenizer {
  const { files, renderChat } = vocabulary
  if (!files || !renderChat || task.sample(0, 0, 'test').messages) return vocabulary
  return { ...vocabulary, files: { ...files, 'chat_template.jinja': CHAT_TEMPLATE } }
}

/** A folder for each model of a run: the policy itself, an adapter merged, and critic/ and
 * reward_model/ where there are such. */
export function runModels(source: ModelSource, task: Task): OutFile[] {
  if (source.experiment.model.steering_vectors.trainable)
    throw new JobError(
      'model.steering_vectors: no weight of a Hugging Face model can hold a vector that is added to its states. Save the vectors with `lab steer RUN --trained --save FILE`, or from “What does a direction do?”; their model is the one that the run began with',
    )
  const { critic, reward_model } = source
  return [
    ...policyFiles(source, task, mergedPolicy(source)),
    ...(critic ? below('critic', headFiles(source, task, 'value_head', critic)) : []),
    ...(reward_model
      ? below('reward_model', headFiles(source, task, 'reward_head', reward_model))
      : []),
  ]
}

/** The model below the adapter or the vectors of a run. Throws as `policyFiles`. */
export const baseModel = (source: ModelSource, task: Task): OutFile[] => policyFiles(source, task)

/** The adapter of a run as PEFT's folder, and in base/ the model that it belongs to. Throws
 * JobError where there is no adapter. */
export function runAdapter(source: ModelSource, task: Task): OutFile[] {
  if (!adapterOf(source))
    throw new JobError('there is no adapter: model.lora.r is 0. Export the model with --to hf')
  const base = policyFiles(source, task)
  return [...policyAdapter(source, 'base'), ...below('base', base)]
}

function policyAdapter(source: ModelSource, base_model_name_or_path: string): OutFile[] {
  const own = adapterOf(source)
  return own ? adapterFiles({ ...own, base_model_name_or_path }) : []
}

const adapterOf = ({ experiment, vocabulary: { vocab_size }, adapter }: ModelSource) =>
  adapterIn({ experiment, vocab_size, adapter })

/** The policy's weights, with an adapter merged into a copy of them. */
export const mergedPolicy = ({ experiment, vocabulary, policy, adapter }: ModelSource) =>
  merged({ experiment, vocab_size: vocabulary.vocab_size, policy, adapter })

const below = (folder: string, files: readonly OutFile[]): OutFile[] =>
  files.map((file) => ({ ...file, path: `${folder}/${file.path}` }))

/** Throws JobError where the policy's weights are those of a model that only its hash names. */
export function requireWeights({ experiment, policy }: ModelSource): void {
  const { source: hash, source_name } = experiment.model
  if (!policy && hash !== null)
    throw new JobError(
      `This experiment begins with ${source_name} (${shortHash(hash)}), whose weights are no part of the settings. Export a run or a checkpoint, or take the model's own folder.`,
    )
}

/** The policy, with weights of its own or merged ones. Throws as `requireWeights`. */
function policyFiles(source: ModelSource, task: Task, weights = source.policy): OutFile[] {
  requireWeights(source)
  return headFiles(source, task, 'lm_head', weights)
}

function headFiles(
  { experiment, vocabulary }: ModelSource,
  task: Task,
  head: Head,
  weights: Float32Array | undefined,
): OutFile[] {
  const config = bareConfig(modelConfig(experiment.model, vocabulary.vocab_size))
  const layout = paramLayout(modelShape(config), head)
  const longest = task.max_prompt_length + experiment.rollout.max_response_length
  return modelFiles({
    config,
    layout,
    vocabulary,
    weights: weights ?? initialWeights(layout, experiment.seed),
    max_position_embeddings: positions(longest),
  })
}

/** Positions that a model's configuration tells, for texts of so many tokens. */
const positions = (longest: number): number => Math.max(128, 2 ** Math.ceil(Math.log2(longest)))

/** What is in the folder of the policy. */
export function modelWords({ policy, step, experiment, vocabulary }: ModelSource): string {
  const begun = step === 0 ? experiment.model.source_name : null
  const trained =
    step === undefined
      ? 'were named at export'
      : begun !== null
        ? `are those of ${begun}, which these settings begin with`
        : `are those after step ${step} of a run`
  const weights = policy ? trained : `are untrained, as seed ${experiment.seed} makes them`
  const newline = hasNewline(vocabulary)
    ? ''
    : ' The tokenizer has no line break: one in a text becomes the padding token.'
  return `The weights ${weights}.${newline}`
}

/** What is to be known of the model before a job starts. */
export function modelWarnings(source: ModelSource, targets: readonly Target[]): string[] {
  const { experiment, policy } = source
  const { model, teacher } = experiment
  const warnings: string[] = []
  if (!policy && experiment.phases[0].kind === 'sft')
    warnings.push(
      'The model is untrained, and the warm start is no part of the job: train it first and export a checkpoint of the run, or reinforcement has nothing to begin with.',
    )
  const served = Object.entries({ model, ...(teacher.source !== null && { teacher }) })
  const wrong = served
    .map(([whose, { head_dim }]) => ({ path: `${whose}.head_dim`, head_dim }))
    .find(({ head_dim }) => !SERVED_HEADS.includes(head_dim))
  if (targets.some((target) => target !== 'trl') && wrong)
    warnings.push(
      `${wrong.path} is ${wrong.head_dim}: the attention of vLLM, which verl samples with, serves heads of ${SERVED_HEADS.slice(0, 4).join(', ')} and so on. It may refuse this model; train one with head_dim 32. TRL takes any width.`,
    )
  return warnings
}
