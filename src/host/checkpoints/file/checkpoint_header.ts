// Writes and reads the words of a checkpoint: what it holds beside its tensors, as strings of a
// safetensors file. Everything that is read is checked.
import * as z from 'zod/mini'
import { parseExperiment } from '../../../document/experiment/experiment.ts'
import { isPairedDocument, takesVerdicts } from '../../../document/experiment/fields/phases.ts'
import { readKernels } from '../../../document/experiment/fields/pinned_kernels.ts'
import { readVerdicts, recordedVerdicts } from '../../../document/experiment/fields/verdicts.ts'
import type { Experiment } from '../../../document/experiment/schema/schema.ts'
import type { SteeringEntry } from '../../../document/experiment/steering/actions.ts'
import { steeringWords } from '../../../document/experiment/steering/words.ts'
import { PHASE_REASONS } from '../../../rl/config/phase.ts'
import type { TrainerState } from '../../../rl/train/state.ts'
import type { Thinned } from '../../columns/thinning.ts'
import type { RunHistory } from '../../protocol/checkpoint_facts.ts'
import { otherVocabulary, vocabularyOf } from '../../protocol/vocabulary.ts'
import type { Checkpoint } from './checkpoint.ts'
import { CheckpointError } from './checkpoint_error.ts'
import { brokenPairs, pairsSchema, type WrittenPairs, writtenPairs } from './checkpoint_pairs.ts'
import { staleSchema, type WrittenStale, writtenStale } from './checkpoint_stale.ts'

export const CHECKPOINT_FORMAT = 'understory-checkpoint'
/** The file's version. A file of a higher version is not read. */
const CHECKPOINT_VERSION = 2
/** Hexadecimal digits of SHA-256. */
export const CHECKSUM_DIGITS = 64
/** Characters of one string; nested brackets are slow to parse. */
const LONGEST_STRING = 2 ** 23
const MAX_METRICS = 4096

const whole = z.int().check(z.minimum(0))
const reason = z.enum(PHASE_REASONS)
/** Ids name files, so they hold nothing that could lead elsewhere. */
const id = z.string().check(z.regex(/^[A-Za-z0-9_-]{1,100}$/))
const text = z.string().check(z.maxLength(16_000))

/** What the CPU counts, but for what is kept as tensors. */
const counters = z.object({
  phase: whole,
  step: whole,
  phase_step: whole,
  stage_step: whole,
  critic_step: whole,
  is_started: z.boolean(),
  ends: z.nullable(reason),
  began: z.nullable(reason),
  skipped_updates: whole,
  sample_index: whole,
  pairs_of: z.nullable(whole),
  /** Entries of the document's steering that are done. */
  done: whole,
  /** The weights that the run began with, where lenses of files must be of them. */
  begun_with: z.optional(z.string().check(z.regex(/^sha256-\S{1,100}$/))),
})
const metrics = z
  .array(z.tuple([z.string().check(z.maxLength(300)), whole]))
  .check(z.maxLength(MAX_METRICS))
const thinned = z
  .array(z.tuple([z.string(), z.int().check(z.minimum(2)), whole]))
  .check(z.maxLength(MAX_METRICS))
/** Of a curriculum. */
const level_starts = z.array(whole).check(z.maxLength(MAX_METRICS))
const phase_switches = z.array(z.object({ step: whole, phase: whole, reason }))
const steered = z.array(
  z.object({
    entry: z.looseObject({ step: whole, kind: z.string() }),
    refused: z.optional(z.string()),
  }),
)
const verdicts = z.record(z.string().check(z.regex(/^\d{1,3}$/)), z.string())
const made_on = z.object({ understory: text, adapter: text, kernels: text })
/** The text of every token id. */
const tokens = z.array(z.string().check(z.maxLength(1000))).check(z.maxLength(2 ** 20))
const parent = z.object({ record: id, step: whole })

/** The header, checked. */
export interface CheckpointHeader {
  readonly record: string
  readonly parent: Checkpoint['parent']
  readonly made_on: Checkpoint['made_on']
  readonly experiment: Experiment
  readonly document: Experiment
  readonly counters: Counters & { readonly done: number }
  readonly pairs: WrittenPairs | undefined
  readonly stale: WrittenStale
  readonly level_starts: readonly number[]
  /** Metrics with the number of their column of steps. */
  readonly metrics: readonly (readonly [name: string, column: number])[]
  /** Metrics whose columns are no longer whole. */
  readonly thinned: ReadonlyMap<string, Thinned>
  readonly marks: Omit<RunHistory, 'series'>
}

type Counters = Omit<
  TrainerState,
  | 'actor'
  | 'reference'
  | 'teacher'
  | 'critic'
  | 'reward_model'
  | 'preferences'
  | 'scores'
  | 'kl_coef'
  | 'entropy'
  | 'stale'
  | 'difficulty'
>

/** What is kept as words of a state. */
function countersOf(state: TrainerState): Counters {
  const { phase, step, phase_step, stage_step, critic_step, is_started, ends, began } = state
  const { skipped_updates, sample_index, pairs_of, begun_with } = state
  const place = { phase, step, phase_step, stage_step, critic_step, is_started, ends, began }
  return { ...place, skipped_updates, sample_index, pairs_of, ...(begun_with && { begun_with }) }
}

/** The strings of a checkpoint; the checksum is to be filled in. */
export function writeHeader(
  { record, parent, run, history, made_on }: Checkpoint,
  metrics: CheckpointHeader['metrics'],
): Record<string, string> {
  const { trainer, experiment, document, done } = run
  const pairs = trainer.preferences
  const { series, phase_switches, steered, verdicts } = history
  const lost = [...series].flatMap(([metric, { thinned }]) =>
    thinned ? [[metric, thinned.every, thinned.until] as const] : [],
  )
  const parts = {
    made_on,
    tokens: vocabularyOf(experiment.task).tokens,
    experiment,
    document,
    run: { ...countersOf(trainer), done },
    metrics,
    ...(lost.length > 0 && { thinned: lost }),
    phase_switches,
    steered,
    verdicts,
    ...(parent && { parent }),
    ...(pairs && { preferences: writtenPairs(pairs) }),
    ...(trainer.difficulty.level_starts.length > 0 && {
      level_starts: trainer.difficulty.level_starts,
    }),
    ...(trainer.stale && { stale: writtenStale(trainer.stale) }),
  }
  const written = Object.entries(parts).map(([name, part]) => [name, JSON.stringify(part)] as const)
  for (const [name, string] of written)
    if (string.length > LONGEST_STRING)
      throw new RangeError(
        `checkpoint ${name}: expected at most ${LONGEST_STRING} characters, got ${string.length}`,
      )
  return {
    checksum: '0'.repeat(CHECKSUM_DIGITS),
    format: CHECKPOINT_FORMAT,
    version: `${CHECKPOINT_VERSION}`,
    record,
    ...Object.fromEntries(written),
  }
}

/** Refuses files of other programs and of later versions, before anything else is asked of them.
 * Throws CheckpointError. */
export function requireFormat(strings: Readonly<Record<string, string>>, file: string): void {
  const { format, version } = strings
  if (format !== CHECKPOINT_FORMAT)
    throw new CheckpointError(
      file,
      `format: expected '${CHECKPOINT_FORMAT}', found ${format === undefined ? 'nothing' : `'${format.slice(0, 40)}'`}`,
      'foreign',
    )
  if (!/^[1-9]\d{0,5}$/.test(version ?? ''))
    throw new CheckpointError(file, 'version: expected a whole number')
  if (Number(version) > CHECKPOINT_VERSION)
    throw new CheckpointError(
      file,
      `version: expected at most ${CHECKPOINT_VERSION}, found ${version}`,
      'newer',
    )
}

type Strings = Readonly<Record<string, string>>

/** How the strings of a file are read; each of these throws CheckpointError naming the string that
 * cannot be what was written. */
function partsOf(strings: Strings, file: string) {
  const fail = (at: string, message: string): never => {
    throw new CheckpointError(file, `${at}: ${message}`)
  }
  const json = (name: string): unknown => {
    const string = Object.hasOwn(strings, name) ? strings[name] : undefined
    if (string === undefined) return fail(name, 'expected, found nothing')
    if (string.length > LONGEST_STRING)
      return fail(name, `expected at most ${LONGEST_STRING} characters`)
    try {
      return JSON.parse(string)
    } catch {
      return fail(name, 'expected JSON, found something else')
    }
  }
  const part = <T>(name: string, schema: z.ZodMiniType<T>): T => {
    const parsed = schema.safeParse(json(name))
    if (parsed.success) return parsed.data
    const [{ path, message }] = parsed.error.issues
    return fail([name, ...path.map(String)].join('.'), message)
  }
  const experimentOf = (name: string): Experiment => {
    const parsed = parseExperiment(json(name))
    if (parsed.ok) return parsed.experiment
    const [{ path, message }] = parsed.issues
    return fail(path === '' ? name : `${name}.${path}`, message)
  }
  const has = (name: string) => Object.hasOwn(strings, name)
  return { fail, has, part, experimentOf }
}

/** Reads and checks the strings. Throws CheckpointError naming the first that cannot be what was
 * written. */
export function readHeader(strings: Strings, file: string): CheckpointHeader {
  const { fail, has, part, experimentOf } = partsOf(strings, file)
  const record = id.safeParse(strings.record)
  if (!record.success) return fail('record', 'expected an id')
  const marks = {
    phase_switches: part('phase_switches', phase_switches),
    steered: part('steered', steered).map(({ entry, refused }) => ({
      // Checked in words below.
      entry: entry as unknown as SteeringEntry,
      refused,
    })),
    verdicts: part('verdicts', verdicts),
  }
  const header: CheckpointHeader = {
    record: record.data,
    parent: has('parent') ? part('parent', parent) : undefined,
    made_on: part('made_on', made_on),
    experiment: experimentOf('experiment'),
    document: experimentOf('document'),
    counters: part('run', counters),
    pairs: has('preferences') ? part('preferences', pairsSchema) : undefined,
    level_starts: has('level_starts') ? part('level_starts', level_starts) : [],
    stale: has('stale') ? part('stale', staleSchema) : [],
    metrics: part('metrics', metrics),
    thinned: new Map(
      (has('thinned') ? part('thinned', thinned) : []).map(([metric, every, until]) => [
        metric,
        { every, until },
      ]),
    ),
    marks,
  }
  // Files of earlier versions do not say it; tasks have kept their vocabulary since.
  const other = has('tokens') && otherVocabulary(part('tokens', tokens), header.experiment.task)
  if (other) throw new CheckpointError(file, other, 'vocabulary')
  const broken = brokenCounters(header) ?? brokenMarks(header)
  return broken ? fail(broken[0], broken[1]) : header
}

type Broken = readonly [at: string, message: string] | undefined

/** What the parts of the run say against each other. */
function brokenCounters({
  counters,
  experiment,
  document,
  pairs,
  made_on,
}: CheckpointHeader): Broken {
  const { phase, pairs_of, done } = counters
  const { phases } = experiment
  if (experiment.steering.length > 0) return ['experiment.steering', 'expected none']
  if (phase >= phases.length)
    return ['run.phase', `expected below ${phases.length}, found ${phase}`]
  if (done > document.steering.length)
    return [
      'run.done',
      `expected at most ${document.steering.length} (document.steering), found ${done}`,
    ]
  const asking = phases[pairs_of ?? -1]
  // Single answers are those of the rows, so none are kept.
  const keeps = asking && !(isPairedDocument(asking) && takesVerdicts(experiment.task, asking))
  if ((keeps ?? pairs_of !== null) !== (pairs !== undefined))
    return ['preferences', `expected ${pairs_of === null ? 'none' : `those of phase ${pairs_of}`}`]
  const kernels = readKernels(made_on.kernels)
  if (!kernels.ok) return ['made_on.kernels', kernels.problem]
  if (pairs_of === null || !pairs) return undefined
  if (pairs_of > phase || !asking || !isPairedDocument(asking))
    return [
      'run.pairs_of',
      `expected a reward_model or preference phase up to ${phase}, found ${pairs_of}`,
    ]
  const broken = brokenPairs(pairs, recordedVerdicts(asking.pairs).length)
  return broken === undefined ? undefined : ['preferences', broken]
}

/** What the history says against the run. */
function brokenMarks({ counters, experiment, metrics, thinned, marks }: CheckpointHeader): Broken {
  const { step } = counters
  let [lastStep, lastPhase] = [0, -1]
  for (const { step: at, phase } of marks.phase_switches) {
    if (at < lastStep || at > step || phase <= lastPhase || phase >= experiment.phases.length)
      return [
        'phase_switches',
        `expected phases in order up to step ${step}, found ${phase} at ${at}`,
      ]
    ;[lastStep, lastPhase] = [at, phase]
  }
  if (!marks.steered.every(({ entry }) => isAction(entry)))
    return ['steered', 'expected what can be done to a run']
  for (const [phase, said] of Object.entries(marks.verdicts))
    if (readVerdicts(said) === undefined) return [`verdicts.${phase}`, 'expected verdicts']
  if (new Set(metrics.map(([name]) => name)).size < metrics.length)
    return ['metrics', 'expected each name once']
  for (const [metric, { until }] of thinned)
    if (until > step)
      return ['thinned', `expected steps up to ${step}, found ${until} of ${metric.slice(0, 80)}`]
  return undefined
}

function isAction(entry: SteeringEntry): boolean {
  try {
    return typeof steeringWords(entry) === 'string'
  } catch {
    return false
  }
}
