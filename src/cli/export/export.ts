// lab export: writes an experiment, a run or a checkpoint as a folder that transformers, verl,
// BuPO's fork, TRL, TensorBoard or a notebook reads.
import { chmodSync, existsSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { version } from '../../../package.json'
import type { Experiment } from '../../document/experiment/schema/schema.ts'
import { presetOf } from '../../document/presets/presets.ts'
import { decodeCheckpoint } from '../../host/checkpoints/file/checkpoint_file.ts'
import { adapterExport, makeJob, modelExport } from '../../jobs/job_files.ts'
import type { JobSource } from '../../jobs/job_spec.ts'
import { checkpointSource, experimentSource } from '../../jobs/model_folders.ts'
import { JobError } from '../../jobs/settings/job_error.ts'
import { type Command, UsageError } from '../base/command.ts'
import { print, tell } from '../base/terminal.ts'
import { changeOf } from '../input/changed_fields.ts'
import { givenData, loadNamedFiles } from '../input/data_set.ts'
import { readExperiment } from '../input/experiment_source.ts'
import { readInput } from '../input/input_file.ts'
import { refuseFolder, writeFolder } from '../output/file_folder.ts'
import { readGivenTeacher } from '../train/given_teacher.ts'
import { findCheckpoint } from '../train/resume.ts'
import { loadWeights } from '../train/weights.ts'
import { exportEvents } from './export_events.ts'
import { exportNotebook } from './export_notebook.ts'
import { EXPORT_LINE, type ExportOptions, readExportOptions } from './export_options.ts'
import { proposedScale } from './proposed_scale.ts'
import { withOptions } from './way_out.ts'

export const exportCommand: Command = {
  line: EXPORT_LINE,
  run: async (args) => {
    const options = readExportOptions(args)
    const { folder, format } = options
    if (format === 'tensorboard') {
      await exportEvents(options.source, folder)
      return 0
    }
    if (format === 'notebook') {
      await exportNotebook(options.source, folder, options.force)
      return 0
    }
    refuseFolder(folder, options.force)
    const { files, warnings } = jobOf(await readSource(options), options)
    for (const warning of warnings) tell(`Note: ${withOptions(warning)}`)
    const bytes = writeFolder(folder, files)
    for (const { path } of files) if (path.endsWith('.sh')) chmodSync(join(folder, path), 0o755)
    print(`Wrote ${folder} (${files.length} files, ${(bytes / 1e6).toFixed(1)} MB).`)
    const isChecked = files.some(({ path }) => path === 'check.py')
    print(nextStep(options, isChecked))
    return 0
  },
}

function nextStep({ format }: ExportOptions, isChecked: boolean): string {
  if (format === 'hf') return 'transformers loads it: AutoModelForCausalLM.from_pretrained(…).'
  if (format === 'peft') return 'PEFT loads it: PeftModel.from_pretrained(model of base/, …).'
  const readme = 'README.md says how to start it and what was not carried over'
  return isChecked ? `${readme}; python3 check.py checks it without a GPU.` : `${readme}.`
}

/** What is written. Throws JobError, whose way out has its option. */
function jobOf(source: JobSource, options: ExportOptions) {
  try {
    return filesOf(source, options)
  } catch (error) {
    throw error instanceof JobError ? new JobError(withOptions(error.message)) : error
  }
}

function filesOf(source: JobSource, { format, verl, phase, scale }: ExportOptions) {
  if (format === 'hf' || format === 'tensorboard' || format === 'notebook')
    return { files: modelExport(source), warnings: [] }
  if (format === 'peft') return { files: adapterExport(source), warnings: [] }
  const options = { target: format, verl, ...(phase !== undefined && { phase }) }
  if (!scale) return makeJob(source, options)
  const { lines, ...proposed } = proposedScale(source, options, scale)
  const job = makeJob(source, { ...options, ...proposed })
  for (const line of lines) print(line)
  return job
}

/** Where the experiment and its weights come from. Throws LabFailure, or CheckpointError. */
async function readSource(options: ExportOptions): Promise<JobSource> {
  const { source, weights, teacher, seed } = options
  const data = await givenData(options.data)
  // A preset's id comes before a folder of that name, as in every command.
  const isCheckpoint = !presetOf(source) && existsSync(source) && !source.endsWith('.json')
  if (!isCheckpoint) {
    const change = await changeOf({ seed, 'warm-start': weights, teacher }, { data })
    const experiment = readExperiment(source, change)
    await loadNamedFiles(experiment, data, tell)
    return fromExperiment(experiment, weights, teacher)
  }
  if (weights !== undefined)
    throw new UsageError('--weights: a run has weights of its own; give its experiment instead')
  if (teacher !== undefined)
    throw new UsageError('--teacher: a run has a teacher of its own; give its experiment instead')
  if (seed !== undefined) throw new UsageError('--seed: a run has a seed of its own')
  const { run } = statSync(source).isDirectory()
    ? (await findCheckpoint(source, undefined)).checkpoint
    : await decodeCheckpoint(new Uint8Array(readInput(source)), basename(source))
  const { experiment } = run
  if (data && experiment.task.data !== data.train.hash)
    throw new UsageError(`--data: ${source} was not trained on the rows of ${data.train.name}`)
  await loadNamedFiles(experiment, data, tell)
  return { ...checkpointSource(run), understory: version }
}

async function fromExperiment(
  experiment: Experiment,
  weights: string | undefined,
  teacher: string | undefined,
): Promise<JobSource> {
  const policy = weights === undefined ? undefined : loadWeights(weights, experiment)
  const taught = teacher === undefined ? undefined : await readGivenTeacher(experiment, teacher)
  const from = experimentSource(taught?.experiment ?? experiment, policy)
  return { ...from, understory: version, teacher: taught?.weights }
}
