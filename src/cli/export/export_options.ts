// Declares the command line of lab export.
import { type Cluster, FIRST_CLUSTER, type ScaleValues } from '../../jobs/scale/scale.ts'
import { TARGETS, type VerlVersion } from '../../jobs/settings/setting.ts'
import { UsageError } from '../base/command.ts'
import { commandLine, flag, list, text, usually } from '../base/declare.ts'
import { wholeNumber } from '../input/changed_fields.ts'
import { type DataOptions, refuseLoneValData } from '../input/data_set.ts'
import { readArguments } from '../options/read.ts'
import { DATA_OPTIONS } from '../options/shared.ts'

/** What `--to` takes: a plain model, an adapter, a job of one of the systems, or the metrics
 * alone, as an event file or with a notebook. */
const FORMATS = ['hf', 'peft', ...TARGETS, 'tensorboard', 'notebook'] as const
export type Format = (typeof FORMATS)[number]

export interface ExportOptions {
  readonly source: string
  readonly folder: string
  readonly format: Format
  readonly weights: string | undefined
  /** The model that a phase of distillation learns from. */
  readonly teacher: string | undefined
  /** Files with rows in place of the experiment's task. */
  readonly data: DataOptions
  /** A run keeps its own. */
  readonly seed: string | undefined
  /** Index, from 0. */
  readonly phase: number | undefined
  readonly verl: VerlVersion
  readonly force: boolean
  /** Another model on a cluster, and what was given in place of the proposals for it. */
  readonly scale: { readonly cluster: Cluster; readonly own: Partial<ScaleValues> } | undefined
}

export const EXPORT_LINE = commandLine({
  name: 'export',
  takes: '<source> <DIR>',
  summary: 'a folder for transformers, PEFT, verl, BuPO, TRL, TensorBoard or pandas',
  notes: [
    'The source: a run folder, a checkpoint, an experiment.json, a share link or the id of a preset.',
    'hf: the models, an adapter merged. peft: the adapter. verl, bupo, trl: a job with model, data, reward and start scripts. tensorboard: the metrics of a run or log as an event file. notebook: the same as a table, with a notebook that draws its curves.',
  ],
  groups: {
    Options: {
      to: text(FORMATS.join('|'), 'what is written'),
      force: flag('replaces what an earlier export wrote into the folder'),
      phase: text('N', 'the job of this phase, from 1'),
      verl: usually('0.9', '0.9|0.7', 'the version that the job is for'),
    },
    'In place of what the experiment says': {
      seed: text('N', 'the seed; a run keeps its own'),
      weights: text('DIR', 'begins with the weights that train --save kept'),
      teacher: text('PATH', 'what a phase of distillation learns from: a model folder or a run'),
      ...DATA_OPTIONS,
    },
    'Another model on a cluster': {
      model: text('NAME', 'the job trains this model, with settings proposed for its size'),
      gpus: text('N', 'GPUs of each node'),
      nodes: text('N', 'nodes'),
      set: list('KEY=NUMBER', 'in place of what is proposed, such as lr=1e-6; repeatable'),
    },
  },
  examples: [
    'export runs/tiny --to hf models/tiny',
    'export tiny-grpo --to verl job --data rows.jsonl',
    'export runs/tiny --to notebook curves',
    'export tiny-grpo --to verl job --model Qwen/Qwen3-0.6B --gpus 8 --set lr=1e-6',
  ],
})

/** Throws UsageError. */
export function readExportOptions(args: readonly string[]): ExportOptions {
  const { values, positionals } = readArguments(EXPORT_LINE, args)
  const { to, weights, teacher, phase, verl, force } = values
  const format = FORMATS.find((name) => name === to)
  if (!format) throw new UsageError(`--to: expected ${FORMATS.join(', ')}, got ${to ?? 'nothing'}`)
  const [source, folder, ...more] = positionals
  if (source === undefined || folder === undefined || more.length > 0)
    throw new UsageError(
      `export takes what to export and one folder, got ${positionals.length} names`,
    )
  refuseIdle(format, values)
  if (verl !== '0.9' && verl !== '0.7')
    throw new UsageError(`--verl: expected 0.9 (or later) or 0.7, got ${verl}`)
  if (phase !== undefined && !/^[1-9]\d?$/.test(phase))
    throw new UsageError(`--phase: expected the number of a phase, from 1, got ${phase}`)
  const index = phase === undefined ? undefined : Number(phase) - 1
  const scale = scaleOf(values, format)
  refuseLoneValData(values)
  wholeNumber('--seed', values.seed)
  const { seed } = values
  const what = { source, folder, format, weights, teacher, data: values, seed }
  return { ...what, phase: index, verl, force, scale }
}

/** Metrics alone take nothing of what a model or a job takes. */
function refuseIdle(format: Format, values: object): void {
  if (format !== 'tensorboard' && format !== 'notebook') return
  const taken = ['to', 'verl', ...(format === 'notebook' ? ['force'] : [])]
  const idle = Object.entries(values).find(
    ([name, value]) => value !== undefined && value !== false && !taken.includes(name),
  )
  if (!idle) return
  const what = format === 'notebook' ? 'a notebook' : 'an event file'
  throw new UsageError(`--${idle[0]}: has no effect on ${what} (--to ${format}); leave it out`)
}

type Values = ReturnType<typeof readArguments<(typeof EXPORT_LINE)['groups']>>['values']

/** Another model and its cluster. */
function scaleOf(values: Values, format: Format): ExportOptions['scale'] {
  const { model, set = [], weights } = values
  if (model === undefined) {
    const idle = (['gpus', 'nodes', 'set'] as const).find((name) => values[name] !== undefined)
    if (idle === undefined) return undefined
    throw new UsageError(`--${idle}: belongs to --model NAME, and there is no --model`)
  }
  if (format !== 'verl' && format !== 'bupo')
    throw new UsageError(`--model: only a job for verl or bupo trains another model, not ${format}`)
  if (weights !== undefined)
    throw new UsageError(`--weights: has no effect, because the job trains ${model}; leave it out`)
  const gpus = wholeNumber('--gpus', values.gpus) ?? FIRST_CLUSTER.gpus
  const nodes = wholeNumber('--nodes', values.nodes) ?? FIRST_CLUSTER.nodes
  return { cluster: { model, gpus, nodes }, own: Object.fromEntries(set.map(setOf)) }
}

/** 'lr=1e-6', with true and false for 1 and 0. Which keys there are depends on the experiment. */
function setOf(text: string): [string, number] {
  const [, key, value] = /^(\w+)=(.+)$/.exec(text) ?? []
  const number = value === 'true' ? 1 : value === 'false' ? 0 : Number(value)
  if (key === undefined || Number.isNaN(number))
    throw new UsageError(`--set: expected key=number, got '${text}'`)
  return [key, number]
}
