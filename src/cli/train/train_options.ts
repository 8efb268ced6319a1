// Declares the command line of lab train.
import { existsSync } from 'node:fs'
import type { ContentFile } from '../../document/content/content.ts'
import type { Experiment } from '../../document/experiment/schema/schema.ts'
import { type CheckpointSchedule, DEFAULT_SCHEDULE } from '../../host/checkpoints/schedule.ts'
import type { MatmulChoice } from '../../kernels/matmul/matmul_variants.ts'
import { TRANSLATED_READOUTS, type TranslatedReadout } from '../../model/layout/readout.ts'
import type { ObservationRequest } from '../../rl/look/observation.ts'
import { holdsRows } from '../../tasks/data/readers/json.ts'
import { isDataFile } from '../../tasks/data/readers/readers.ts'
import { UsageError } from '../base/command.ts'
import { commandLine, flag, list, text } from '../base/declare.ts'
import { changeOf, type GivenFiles, wholeNumber } from '../input/changed_fields.ts'
import { documentAround, type GivenData, givenData } from '../input/data_set.ts'
import { acceptDocument, readBundled, readExperiment } from '../input/experiment_source.ts'
import { type GivenReward, givenRewards, givenTools } from '../input/given_programs.ts'
import { readText } from '../input/input_file.ts'
import { readMatmulChoice } from '../input/matmul_choice.ts'
import { readArguments } from '../options/read.ts'
import { CHANGE_OPTIONS, DATA_OPTIONS } from '../options/shared.ts'
import { trustPrograms } from '../sandbox/programs.ts'
import { withLenses, withVectors } from './given_beside.ts'

/** A run from its first step. */
export interface NewRun {
  readonly experiment: Experiment
  /** Folder of such weights; the sft phases at the beginning are left out, and steps and prompts
   * count from 0. */
  readonly warm_start: string | undefined
  /** A Hugging Face model directory, the folder of a run or a checkpoint, in place of the
   * experiment's model and its first weights. */
  readonly model: string | undefined
  /** What teaches: a model directory, a run's folder or a checkpoint, in place of what the
   * experiment says. */
  readonly teacher: string | undefined
  /** A folder of PEFT's with the LoRA adapter that training begins with, in place of the
   * experiment's. */
  readonly adapter: string | undefined
  /** Kernels of matrix products that are settled, in place of what the experiment pins. */
  readonly matmul: MatmulChoice | undefined
  /** Whether the kernels of the other products are measured before training. */
  readonly tune: boolean
}

export interface Options {
  /** What is trained: a new run, or the folder or file that one continues from, with half its
   * learning rates if it `isSlower`. */
  readonly run: NewRun | { readonly resume: string; readonly isSlower: boolean }
  /** Files that the experiment may name. */
  readonly data: GivenData | undefined
  /** Programs that score responses. */
  readonly rewards: readonly GivenReward[]
  /** Programs that answer calls. */
  readonly tools: readonly ContentFile[]
  /** Files that came with the experiment in a bundle. */
  readonly bundled: readonly ContentFile[]
  readonly out: string | undefined
  /** Whether nothing is to be trained, only said. */
  readonly isDry: boolean
  /** Whether `out` may hold files already: an earlier run is replaced, other files stay. */
  readonly force: boolean
  /** Folder that gets the weights as they are after the last sft phase. */
  readonly save: string | undefined
  /** Whether the inside is written down too. */
  readonly observe: boolean
  /** What is written down there as well: what switching each part off costs, and what layers say
   * through lenses. */
  readonly observesBesides: Pick<ObservationRequest, 'parts' | 'readings'>
  /** Whether a TensorBoard event file grows while the run continues (event_log.ts). */
  readonly hasEvents: boolean
  /** Bytes of GPU memory that may be taken without more ado; undefined = memoryBudget of this
   * machine. */
  readonly allow_bytes: number | undefined
  /** When checkpoints are written into the folder; undefined = never. */
  readonly schedule: CheckpointSchedule | undefined
}

export const TRAIN_LINE = commandLine({
  name: 'train',
  takes: '<experiment>',
  summary: 'trains an experiment, or continues a run',
  notes: [
    'The experiment: an experiment.json, a share link, the id of a preset, a bundle.zip, or a file of rows, which is trained on with usual settings. Exit status 0: it trained to its end.',
  ],
  groups: {
    'The run': {
      out: text('DIR', 'writes metrics, samples and checkpoints into a new or empty folder'),
      force: flag('replaces the run that is in --out; other files stay'),
      'checkpoint-every': text(
        'N',
        'a checkpoint every N steps, 0: none (default: every 10 steps or 10 s, whichever is later)',
      ),
      observe: flag('writes what the inside looks like at every validation into --out'),
      'observe-parts': flag(
        'writes there what switching each part off costs, after validations, for 4 % of the work',
      ),
      'observe-lens': text(
        'KINDS',
        'writes there what every layer says through a lens, tuned or jacobian, with a comma for both',
      ),
      logger: text('tensorboard', 'writes an event file for TensorBoard too'),
      save: text('DIR', 'keeps the weights after supervised warm-up'),
      'dry-run': flag('says what would be trained and what it needs, and trains nothing'),
    },
    'In place of what the experiment says': CHANGE_OPTIONS,
    Data: DATA_OPTIONS,
    'Reward and tools': {
      reward: list(
        'FILE[:NAME]',
        'scores with a function of a program (.py, .js), as verl, TRL or OpenRLHF call it; repeatable',
      ),
      tool: list(
        'FILE',
        'lets the policy call a program that has tool_schema and execute; repeatable',
      ),
      'trust-programs': flag('runs Python where this system cannot confine it'),
    },
    Model: {
      model: text(
        'PATH',
        'begins with a Hugging Face model, whose tokenizer reads the rows of --data; or with a run or a checkpoint',
      ),
      teacher: text(
        'PATH',
        'learns from a Hugging Face model, a run or a checkpoint of its tokenizer (kind distill)',
      ),
      adapter: text('DIR', "trains a LoRA adapter of PEFT's on"),
      vectors: text('FILE', 'trains steering vectors on, and leaves the model as it is'),
      lens: text('FILES', 'reads inner layers through lenses that lab lens wrote, with commas'),
      'warm-start': text('DIR', 'begins with the weights that --save kept'),
    },
    'An earlier run': {
      resume: text('DIR|FILE', 'continues the run of a folder, or a checkpoint as a run in --out'),
      slower: flag('with half the learning rates'),
    },
    'This machine': {
      tune: flag('measures first which kernels are fastest here'),
      matmul: text('FILE', 'takes the kernels of a run.json or a {shape class: variant}'),
      'allow-memory': text(
        'GIB',
        "GPU memory that may be taken (default: 4, or half of the machine's memory if that is less)",
      ),
    },
  },
  examples: [
    'train tiny --out runs/tiny',
    'train tiny-grpo --set phases.0.steps=20 --set actor.optim.lr=1e-4 --dry-run',
    'train rows.jsonl --reward reward.py --out runs/own',
    'train --resume runs/tiny',
  ],
})

/** What a run that continues has from the one before. */
const SETTLED = [
  'set',
  'seed',
  'warm-start',
  'model',
  'teacher',
  'adapter',
  'vectors',
  'lens',
  'matmul',
  'tune',
] as const

/** Throws UsageError for what cannot be meant, LabFailure for an experiment that is none. */
export async function readOptions(args: readonly string[]): Promise<Options> {
  const { values, positionals } = readArguments(TRAIN_LINE, args)
  if (values.force && values.out === undefined)
    throw new UsageError(
      '--force: says that the folder of --out DIR may hold files; there is no --out',
    )
  const [first] = positionals
  const rows = isData(first) ? { ...values, data: values.data ?? first } : values
  const data = await givenData(rows, isData(first) ? undefined : values.model)
  trustPrograms(values['trust-programs'])
  const rewards = await givenRewards(values.reward)
  const tools = await givenTools(values.tool)
  const bundled: ContentFile[] = []
  const readings = lensKinds(values['observe-lens'])
  return {
    run:
      values.resume === undefined
        ? await newRun(values, positionals, { data, rewards, tools }, bundled)
        : { resume: resumed(values.resume, values, positionals), isSlower: values.slower },
    data,
    rewards,
    tools,
    bundled,
    out: values.out,
    isDry: values['dry-run'],
    force: values.force,
    save: values.save,
    observe: values.observe || values['observe-parts'] || readings.length > 0,
    observesBesides: {
      ...(values['observe-parts'] && { parts: true }),
      ...(readings.length > 0 && { readings }),
    },
    hasEvents: logs(values.logger),
    allow_bytes: allowed(values['allow-memory']),
    schedule: schedule(values['checkpoint-every']),
  }
}

type Values = ReturnType<typeof readArguments<(typeof TRAIN_LINE)['groups']>>['values']

async function newRun(
  values: Values,
  positionals: readonly string[],
  files: GivenFiles,
  bundled: ContentFile[],
): Promise<NewRun> {
  if (positionals.length !== 1) throw new UsageError('train takes one experiment')
  if (values.model !== undefined && values['warm-start'] !== undefined)
    throw new UsageError('--model: brings weights of its own, and so does --warm-start')
  if (values.slower)
    throw new UsageError('--slower: only with --resume; give a new run a lower actor.optim.lr')
  return {
    experiment: await withLenses(
      await withVectors(
        await experimentOf(positionals[0], values, files, bundled),
        values.vectors,
        bundled,
      ),
      values.lens,
      bundled,
    ),
    warm_start: values['warm-start'],
    model: values.model,
    teacher: values.teacher,
    adapter: values.adapter,
    matmul: values.matmul === undefined ? undefined : readMatmulChoice(values.matmul),
    tune: values.tune,
  }
}

/** Throws UsageError for what is no lens. */
function lensKinds(given: string | undefined): readonly TranslatedReadout[] {
  const names = given?.split(',') ?? []
  const kinds = TRANSLATED_READOUTS.filter((kind) => names.includes(kind))
  if (kinds.length < names.length)
    throw new UsageError(
      `--observe-lens: expected ${TRANSLATED_READOUTS.join(' or ')}, or both with a comma between them, got ${given}`,
    )
  return kinds
}

/** A data file by its name, and in JSON by what it holds, which may be an experiment. */
const isData = (source: string | undefined): source is string =>
  source !== undefined &&
  isDataFile(source) &&
  existsSync(source) &&
  (!/\.json$/i.test(source) || holdsRows(readText(source)))

/** A data file is an experiment by itself: the usual one around it. The files of a bundle are put
 * into `bundled`. */
async function experimentOf(
  source: string,
  values: Values,
  given: GivenFiles,
  bundled: ContentFile[],
): Promise<Experiment> {
  const { data } = given
  if (source.endsWith('.zip') && existsSync(source)) {
    const { experiment, files } = await readBundled(source, await changeOf(values, given))
    bundled.push(...files)
    return experiment
  }
  if (!isData(source) || !data) return readExperiment(source, await changeOf(values, given))
  if (values.data !== undefined || values.model !== undefined || values['warm-start'] !== undefined)
    throw new UsageError(
      `${source}: a data file by itself makes an experiment; with --data, --model or --warm-start name an experiment or a preset first`,
    )
  const change = await changeOf(values, { ...given, data: undefined })
  return acceptDocument(source, await documentAround(data), change)
}

function resumed(source: string, values: Values, positionals: readonly string[]): string {
  if (values['dry-run'])
    throw new UsageError('--dry-run: says what a new run would be; leave it out with --resume')
  if (positionals.length > 0)
    throw new UsageError('--resume: the checkpoint holds the experiment; name no other')
  for (const name of SETTLED)
    if (values[name])
      throw new UsageError(
        `--${name}: cannot change with --resume; a run keeps what it started with`,
      )
  return source
}

function schedule(every: string | undefined): CheckpointSchedule | undefined {
  const every_steps = wholeNumber('--checkpoint-every', every)
  if (every_steps === undefined) return DEFAULT_SCHEDULE
  return every_steps === 0 ? undefined : { every_steps, every_ms: 0 }
}

function allowed(gibibytes: string | undefined): number | undefined {
  if (gibibytes === undefined) return undefined
  if (!/^\d{1,6}(\.\d{1,3})?$/.test(gibibytes))
    throw new UsageError(`--allow-memory: expected gibibytes, e.g. 12 or 0.5, got '${gibibytes}'`)
  return Number(gibibytes) * 2 ** 30
}

function logs(logger: string | undefined): boolean {
  if (logger === undefined || logger === 'tensorboard') return logger !== undefined
  throw new UsageError(
    `--logger: expected tensorboard, got '${logger}'; --out DIR keeps metrics.jsonl and metrics.csv in any case`,
  )
}
