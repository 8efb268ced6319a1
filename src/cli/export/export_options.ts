// The command line of lab export.
import { parseArgs } from 'node:util'
import { type Cluster, FIRST_CLUSTER, type ScaleValues } from '../../lab/jobs/scale/scale.ts'
import { TARGETS, type VerlVersion } from '../../lab/jobs/setting.ts'
import { UsageError } from '../command.ts'
import { wholeNumber } from '../input/changed_fields.ts'
import { type DataOptions, refuseLoneValData } from '../input/data_set.ts'

/** What `--to` takes: a plain model, an adapter, a job of one of the systems, or the metrics alone. */
const FORMATS = ['hf', 'peft', ...TARGETS, 'tensorboard'] as const
export type Format = (typeof FORMATS)[number]

export interface ExportOptions {
  readonly source: string
  readonly folder: string
  readonly format: Format
  readonly weights: string | undefined
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

export const EXPORT_USAGE =
  `<run folder, checkpoint, experiment.json, link or preset id> --to hf|peft|${TARGETS.join('|')} DIR [--weights DIR] [--data FILE [--val-data FILE]] [--seed N] [--phase N] [--verl 0.9|0.7] [--model NAME [--gpus N] [--nodes N] [--set key=value …]] [--force]\n` +
  '  export <run folder or log> --to tensorboard DIR'

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
  const scale = scaleOf(values, format)
  refuseLoneValData(values)
  wholeNumber('--seed', values.seed)
  const { seed } = values
  const what = { source, folder, format, weights, data: values, seed }
  return { ...what, phase: index, verl, force, scale }
}

type Values = ReturnType<typeof parse>['values']

function parse(args: readonly string[]) {
  const text = { type: 'string' } as const
  const options = {
    ...{
      to: text,
      weights: text,
      phase: text,
      verl: text,
      data: text,
      'val-data': text,
      tokenizer: text,
    },
    ...{ seed: text, model: text, gpus: text, nodes: text },
    set: { type: 'string', multiple: true },
    force: { type: 'boolean' },
  } as const
  try {
    return parseArgs({ args: [...args], allowPositionals: true, options })
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : `${error}`)
  }
}

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
