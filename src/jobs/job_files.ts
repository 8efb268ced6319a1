// Writes an experiment, or a run of it, as a folder that verl, BuPO's fork or TRL runs: the files,
// made one after the other. No device, no disk: the command line writes them into a folder, a page
// into an archive.

import { taskOf } from '../document/experiment/fields/task_fields.ts'
import type { Experiment } from '../document/experiment/schema/schema.ts'
import { promptedTask } from '../document/experiment/trainer_config.ts'
import { jsonFile, type OutFile, textFile } from '../formats/out_file.ts'
import { asksTeacher } from '../rl/config/algorithm.ts'
import type { Task } from '../tasks/task/task.ts'
import { checkDistillJob, distillJob } from './distill_job.ts'
import { jobReadme, type Starter, shown } from './job_readme.ts'
import { type Job, type JobOptions, type JobSource, jobSpec } from './job_spec.ts'
import {
  modelFolders,
  modelWarnings,
  modelWords,
  requireWeights,
  runAdapter,
  runModels,
  teacherFolder,
  teacherWords,
} from './model_folders.ts'
import { trlNotebook } from './notebooks/trl_notebook.ts'
import { checkPreferenceJob, preferenceJob } from './preference_job.ts'
import { rewardFiles } from './reward/composed_reward.ts'
import { dataSource, trainFile, trainRows, valFile } from './rows/rows.ts'
import { gpuWords, requireScale, SCALE_NOTES, type Scale, scaleWords } from './scale/scale.ts'
import { onGpus, scaledArguments, scaledSettings, scaledStarters } from './scale/scaled_job.ts'
import type { Note } from './settings/carry.ts'
import { JobError } from './settings/job_error.ts'
import { type ChosenPhase, choosePhase, phaseWords } from './settings/phase_choice.ts'
import {
  type JobFacts,
  TARGET_NAMES,
  TARGETS,
  type Target,
  type VerlVersion,
} from './settings/setting.ts'
import { pythonValue } from './settings/shell.ts'
import { chooseForTrl, isDistillation } from './settings/trl_phase.ts'
import check from './templates/check.py?raw'
import ray_job from './templates/ray_job.sh?raw'
import sky from './templates/sky.yaml?raw'
import slurm from './templates/slurm.sh?raw'
import train_trl from './templates/train_trl.py?raw'
import { toolFiles } from './tools/tool_files.ts'
import { trlArguments } from './trl_arguments.ts'
import { bupoCommand, gpusOf, type VerlJob, verlCommand } from './verl_arguments.ts'
import { startScript, VERL_PINS } from './verl_scripts.ts'

/** The job, or JobError naming every setting that `options.target` cannot run. */
export function makeJob(source: JobSource, options: JobOptions): Job {
  const { experiment } = source
  const task = promptedTask(experiment)
  requireRows(task)
  const own = chooseForTrl(experiment, source.place, options.phase)
  if (own && isDistillation(own)) return distillJob(source, options, own, task)
  if (own) return preferenceJob(source, options, own, task)
  const reward = rewardFiles(experiment, task)
  const needed = startOf(source, options, options.target, task)
  const others = TARGETS.filter((target) => target !== options.target).map((target) => {
    try {
      return startOf(source, options, target, task)
    } catch (error) {
      if (error instanceof JobError) return { target, why: error.message }
      throw error
    }
  })
  const starts = [needed, ...others.filter((other) => 'script' in other)]
  const missing = others.filter((other) => 'why' in other)
  const { scale } = options
  const folders = scale ? [] : modelFolders(source, task)
  const rows = Math.max(...starts.map(({ rows }) => rows))
  const range = { seed: experiment.seed, data: experiment.data, first: source.firstProblem }
  const train = trainFile(task, { ...range, count: rows })
  const warnings = warningsOf(
    source,
    options,
    starts.map(({ target }) => target),
  )
  const scripts = starts.flatMap(({ files }) => files)
  const files = [
    ...folders,
    train,
    valFile(task, experiment.validation.prompts),
    ...reward,
    ...scripts,
    // It checks the model of the folder.
    ...(scale ? [] : [textFile('check.py', check)]),
  ]
  const facts = {
    name: experiment.name || task.id,
    version: source.understory,
    model: scale ? undefined : modelWords(source),
    teacher: asksTeacher(needed.chosen.settings) ? teacherWords(experiment) : undefined,
    scale,
    warnings,
    starters: starts,
    missing,
    phases: phaseNotes(source, needed.chosen),
    rows: rowWords(experiment, task, rows),
    verl: options.verl,
  }
  const readme = jobReadme(facts, options.say ?? String)
  return {
    files: [
      ...files,
      textFile('README.md', readme),
      jsonFile(MARK, jobSpec(source, options, task, rows, files)),
    ],
    warnings,
  }
}

/** Refuses a data set that nobody has loaded. */
function requireRows(task: Task): void {
  try {
    task.sample(0, 0, 'test')
  } catch (error) {
    if (error instanceof RangeError) throw new JobError(`${error.message}, with --data FILE`)
    throw error
  }
}

/** Notes that a person reads before a job is made. */
export interface JobCheck {
  /** undefined: a phase of preferences or of distillation. */
  readonly chosen: ChosenPhase | undefined
  readonly warnings: readonly string[]
  /** Settings without a counterpart. */
  readonly lost: readonly Note[]
}

/** What the job of `options.target` would be, without its files; JobError as in `makeJob`. */
export function checkJob(source: JobSource, options: JobOptions): JobCheck {
  const task = promptedTask(source.experiment)
  const own = chooseForTrl(source.experiment, source.place, options.phase)
  // Another model has weights of its own.
  if (!options.scale) requireWeights(source)
  if (own) {
    const lost = isDistillation(own)
      ? checkDistillJob(source, options, own, task)
      : checkPreferenceJob(source, options, own, task)
    return { chosen: undefined, lost, warnings: [] }
  }
  const { chosen, lost } = startOf(source, options, options.target, task)
  return { chosen, lost, warnings: warningsOf(source, options, [options.target]) }
}

const warningsOf = (source: JobSource, { scale }: JobOptions, targets: readonly Target[]) =>
  scale ? SCALE_NOTES : modelWarnings(source, targets)

/** The models alone, as transformers loads them. */
export function modelExport(source: JobSource): OutFile[] {
  const { experiment, step, understory } = source
  const mark = { format: 'understory-model-1', understory, step, experiment }
  return [...runModels(source, taskOf(experiment.task)), jsonFile(MARK, mark)]
}

/** The adapter alone, as PEFT loads it, with the model that it belongs to. */
export function adapterExport(source: JobSource): OutFile[] {
  return runAdapter(source, taskOf(source.experiment.task))
}

/** What starts the job in one system. */
interface Start extends Starter {
  readonly chosen: ChosenPhase
  readonly rows: number
  readonly files: readonly OutFile[]
}

function startOf(
  source: JobSource,
  { verl, phase, scale, say = String }: JobOptions,
  target: Target,
  task: Task,
): Start {
  const { experiment, place, critic, changes } = source
  const chosen = choosePhase(experiment, target, place, phase)
  const { steps } = chosen
  if (scale) requireScale(scale, target, chosen)
  const settings = scale ? scaledSettings(chosen.settings, scale) : chosen.settings
  const { rollout, actor } = settings
  const updates = (rollout.train_batch_size / actor.ppo_mini_batch_size) * actor.ppo_epochs
  const facts: JobFacts = { experiment, phase: chosen.phase, settings, steps, updates, changes }
  const count = steps * rollout.train_batch_size
  const rows = trainRows({ data: experiment.data, count })
  const job: VerlJob = { facts, chosen, task, rows, hasCriticFolder: critic !== undefined }
  const gpus = target === 'trl' ? 1 : gpusOf(chosen)
  const where = scale ? scaleWords(scale) : gpuWords(gpus)
  const common = { target, steps, chosen, rows, where }
  if (target === 'trl') {
    const { arguments: own, lost, refused } = trlArguments(facts)
    refuse(target, refused)
    const lines = [...own].map(([key, value]) => `    ${key}=${pythonValue(value)},`)
    const text = train_trl.replace('    # ARGUMENTS', () => lines.join('\n'))
    const notebook = trlNotebook(
      { title: experiment.name || task.id, trainer: 'GRPOTrainer', steps },
      say,
    )
    const files = [textFile('train_trl.py', text), notebook]
    return { ...common, lost, script: 'train_trl.py', files }
  }
  const toy = target === 'verl' ? verlCommand(job, verl) : bupoCommand(job)
  refuse(target, toy.refused)
  const command = scale
    ? { ...toy, arguments: scaledArguments(toy.arguments, scale, rollout.n) }
    : toy
  const script = `run_${target}.sh`
  const files = [
    textFile(script, startScript(command, about(target, where, scale), target === 'bupo')),
    ...(asksTeacher(settings) ? teacherFolder(source, task) : []),
    ...(target === 'verl' ? starters(scale, gpus, verl) : []),
    ...('actor_rollout_ref.rollout.multi_turn.enable' in Object.fromEntries(command.arguments)
      ? toolFiles(experiment)
      : []),
  ]
  return { ...common, lost: command.lost, script, files }
}

/** Other places where run_verl.sh starts. */
function starters(scale: Scale | undefined, gpus: 1 | 2, verl: VerlVersion): OutFile[] {
  const { image, release } = VERL_PINS[verl]
  const pinned = sky
    .replace(VERL_PINS['0.9'].image, image)
    .replace(VERL_PINS['0.9'].release, release)
  const own = { sky: pinned, slurm }
  const nodes = scale ? scaledStarters(scale, own) : onGpus(own, gpus)
  const single = nodes ? [textFile('sky.yaml', nodes.sky), textFile('slurm.sh', nodes.slurm)] : []
  return [...single, textFile('ray_job.sh', ray_job)]
}

/** The first lines of a script. */
function about(target: 'verl' | 'bupo', where: string, scale: Scale | undefined): string[] {
  const model = scale?.model ?? 'the model of this folder'
  if (target === 'verl') return [`Trains ${model} with verl on ${where}: bash run_verl.sh`]
  const inner = scale
    ? `an inner layer of ${model} and then all of it`
    : `an inner layer and then the whole model of this folder`
  return [
    `Trains ${inner} with BuPO’s fork of verl, on ${where}.`,
    'Start it in a checkout of the fork: bash /path/to/this/folder/run_bupo.sh',
  ]
}

function refuse(target: Target, refused: readonly Note[]): void {
  if (refused.length === 0) return
  const lines = refused.map(({ path, value, why }) => `${path} is ${shown(value)}: ${why}`)
  // TRL has other trainers, which this job does not call.
  const runner = target === 'trl' ? 'TRL’s GRPOTrainer' : TARGET_NAMES[target]
  throw new JobError(`${runner} cannot run this experiment: ${lines.join('; ')}`)
}

/** What becomes of every phase. */
function phaseNotes(
  { experiment, place }: JobSource,
  { index, steps, inner }: ChosenPhase,
): string[] {
  return experiment.phases.map((phase, i) => {
    const words = phaseWords(phase, i)
    const name = words[0].toUpperCase() + words.slice(1)
    if (i === index) return `${name}: the job${inner ? '' : `, with ${steps} steps`}.`
    if (i === inner?.index) return `${name}: the job, before it.`
    if (i < place.phase) return `${name}: done in the lab, the weights come from after it.`
    if (phase.kind === 'sft' && i < index)
      return `${name}: not in the job. verl and TRL begin with the model as it is; a model after this phase comes from a checkpoint.`
    if (phase.kind === 'rl' && phase.target_layer !== 'final' && i < index)
      return `${name}: not in the job. Only BuPO’s fork trains an inner layer.`
    return `${name}: not in the job.`
  })
}

function rowWords({ data }: Experiment, task: Task, rows: number): string {
  const { train_max_samples } = data
  const from =
    train_max_samples !== null
      ? `the training set of ${rows} problems, for every epoch`
      : `${rows} problems in the order in which the lab would draw them next`
  return `\`data/\`: rows of ${dataSource(task)}: train.parquet holds ${from}; val.parquet holds problems that are never trained on.`
}

/** The file that names what a folder was made from. */
const MARK = 'understory.json'
