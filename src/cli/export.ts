// lab export: an experiment, a run or a checkpoint as a folder that transformers, verl, BuPO's fork, TRL or TensorBoard reads.
import { chmodSync, existsSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { parseArgs } from 'node:util'
import { version } from '../../package.json'
import { decodeCheckpoint } from '../lab/checkpoints/file/checkpoint_file.ts'
import type { Experiment } from '../lab/experiment/schema.ts'
import { type JobSource, makeJob, modelExport } from '../lab/jobs/job_files.ts'
import { checkpointSource, experimentSource } from '../lab/jobs/model_folders.ts'
import { TARGETS, type VerlVersion } from '../lab/jobs/setting.ts'
import { presetOf } from '../lab/presets/presets.ts'
import { type Command, UsageError } from './command.ts'
import { exportEvents } from './export_events.ts'
import {
  type DataOptions,
  givenData,
  loadNamedFiles,
  refuseLoneValData,
  trainedOn,
} from './input/data_set.ts'
import { readExperiment } from './input/experiment_source.ts'
import { readInput } from './input/input_file.ts'
import { refuseFolder, writeFolder } from './output/file_folder.ts'
import { print, tell } from './terminal.ts'
import { findCheckpoint } from './train/resume.ts'
import { loadWeights } from './train/weights.ts'

/** What `--to` takes: a plain model, a job of one of the systems, or the metrics alone. */
const FORMATS = ['hf', ...TARGETS, 'tensorboard'] as const
type Format = (typeof FORMATS)[number]

export const exportCommand: Command = {
  usage:
    `<run folder, checkpoint, experiment.json, link or preset id> --to hf|${TARGETS.join('|')} DIR [--weights DIR] [--data FILE [--val-data FILE]] [--phase N] [--verl 0.9|0.7] [--force]\n` +
    '  export <run folder or log> --to tensorboard DIR',
  summary:
    'a folder for other systems: hf = the models; verl, bupo and trl = a job with model, data, reward and start scripts; ' +
    'tensorboard = the metrics as an event file, shown by tensorboard --logdir DIR',
  run: async (args) => {
    const options = readExportOptions(args)
    const { folder, format } = options
    if (format === 'tensorboard') {
      await exportEvents(options.source, folder)
      return 0
    }
    refuseFolder(folder, options.force)
    const source = await readSource(options)
    const { files, warnings } = filesOf(source, format, options)
    for (const warning of warnings) tell(`Note: ${warning}`)
    const bytes = writeFolder(folder, files)
    for (const { path } of files) if (path.endsWith('.sh')) chmodSync(join(folder, path), 0o755)
    print(`Wrote ${folder} (${files.length} files, ${(bytes / 1e6).toFixed(1)} MB).`)
    print(
      format === 'hf'
        ? 'transformers loads it: AutoModelForCausalLM.from_pretrained(…).'
        : `README.md says how to start it and what was not carried over; python3 check.py checks it without a GPU.`,
    )
    return 0
  },
}

interface ExportOptions {
  readonly source: string
  readonly folder: string
  readonly format: Format
  readonly weights: string | undefined
  /** Files with rows in place of the experiment's task. */
  readonly data: DataOptions
  /** Index, from 0. */
  readonly phase: number | undefined
  readonly verl: VerlVersion
  readonly force: boolean
}

/** Throws UsageError. */
export function readExportOptions(args: readonly string[]): ExportOptions {
  const { values, positionals } = parse(args)
  const { to, weights, phase, verl = '0.9', force = false } = values
  const format = FORMATS.find((name) => name === to)
  if (!format) throw new UsageError(`--to: expected ${FORMATS.join(', ')}, got ${to ?? 'nothing'}`)
  const [source, folder, ...more] = positionals
  if (source === undefined || folder === undefined || more.length > 0)
    throw new UsageError(
      `export takes what to export and one folder, got ${positionals.length} names`,
    )
  const [idle] = Object.keys(values).filter((name) => name !== 'to')
  if (format === 'tensorboard' && idle !== undefined)
    throw new UsageError(
      `--${idle}: has no effect on an event file (--to tensorboard); leave it out`,
    )
  if (verl !== '0.9' && verl !== '0.7')
    throw new UsageError(`--verl: expected 0.9 (or later) or 0.7, got ${verl}`)
  if (phase !== undefined && !/^[1-9]\d?$/.test(phase))
    throw new UsageError(`--phase: expected the number of a phase, from 1, got ${phase}`)
  const index = phase === undefined ? undefined : Number(phase) - 1
  refuseLoneValData(values)
  return { source, folder, format, weights, data: values, phase: index, verl, force }
}

function parse(args: readonly string[]) {
  const text = { type: 'string' } as const
  const force = { type: 'boolean' } as const
  try {
    const named = { to: text, weights: text, phase: text, verl: text, data: text }
    const options = { ...named, 'val-data': text, tokenizer: text, force }
    return parseArgs({ args: [...args], allowPositionals: true, options })
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : `${error}`)
  }
}

function filesOf(
  source: JobSource,
  format: Exclude<Format, 'tensorboard'>,
  { verl, phase }: ExportOptions,
) {
  if (format !== 'hf')
    return makeJob(source, { target: format, verl, ...(phase !== undefined && { phase }) })
  return { files: modelExport(source), warnings: [] }
}

/** Where the experiment and its weights come from. Throws LabFailure, or CheckpointError. */
async function readSource({ source, weights, data: files }: ExportOptions): Promise<JobSource> {
  const data = await givenData(files)
  // A preset's id comes before a folder of that name, as in every command.
  const is_checkpoint = !presetOf(source) && existsSync(source) && !source.endsWith('.json')
  if (!is_checkpoint) {
    const experiment = readExperiment(
      source,
      data && (await trainedOn(data, { 'warm-start': weights })),
    )
    await loadNamedFiles(experiment, data, tell)
    return fromExperiment(experiment, weights)
  }
  if (weights !== undefined)
    throw new UsageError('--weights: a run has weights of its own; give its experiment instead')
  const { run } = statSync(source).isDirectory()
    ? (await findCheckpoint(source, undefined)).checkpoint
    : await decodeCheckpoint(new Uint8Array(readInput(source)), basename(source))
  if (data && run.experiment.task.data !== data.train.hash)
    throw new UsageError(`--data: ${source} was not trained on the rows of ${data.train.name}`)
  await loadNamedFiles(run.experiment, data, tell)
  return { ...checkpointSource(run), understory: version }
}

function fromExperiment(experiment: Experiment, weights: string | undefined): JobSource {
  const policy = weights === undefined ? undefined : loadWeights(weights, experiment)
  return { ...experimentSource(experiment, policy), understory: version }
}
