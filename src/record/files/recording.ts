// Writes and reads a recorded run as one file: the events of the worker, and when they came.
// Reading takes hostile text and never throws.
import * as z from 'zod/mini'
import { parseExperiment } from '../../document/experiment/experiment.ts'
import { resolvePhases } from '../../document/experiment/resolve.ts'
import { rolloutDTypeSchema } from '../../document/experiment/rollout_dtype.ts'
import type { LensReadout } from '../../host/protocol/observation.ts'
import type { RecordedEvent, Recording } from './recorded.ts'

const RECORDING_VERSION = 1
/** Characters of a file at most. */
export const MAX_RECORDING_LENGTH = 8_000_000
const MAX_EVENTS = 20_000
const MAX_METRICS = 400
const MAX_TEXT = 4000
const MAX_LIST = 4096
/** Of a lens readout. */
const MAX_NUMBERS = 1_000_000
const LAST_STEP = 1_000_000
/** A week. */
const LAST_MS = 6.048e8

/** More digits than any chart or number of the page shows. */
const DIGITS = 6
const TIMED = /^(timing_|perf\/)/

function rounded(key: string, value: number): number | null {
  if (!Number.isFinite(value)) return null
  if (Number.isInteger(value)) return value
  return Number(value.toPrecision(TIMED.test(key) ? 4 : DIGITS))
}

/** The file's text. Numbers keep six digits; what is not finite is null. The experiment says what a
 * traced phase was. */
export function writeRecording({ experiment, events, ...facts }: Recording): string {
  const head = JSON.stringify({ recording: RECORDING_VERSION, ...facts, experiment })
  const lines = events.map(({ at_ms, event }) =>
    JSON.stringify([Math.round(at_ms), withoutKnown(event)], plain),
  )
  return `${head.slice(0, -1)},"events":[\n${lines.join(',\n')}\n]}\n`
}

/** Without what the experiment, and the time of the event, say. */
function withoutKnown(event: RecordedEvent): unknown {
  if (event.type === 'step') {
    const { at_ms: _, ...step } = event
    return step
  }
  if (event.type !== 'trace') return event
  const { phase: _, ...table } = event.table
  return { ...event, table }
}

const plain = (key: string, value: unknown): unknown => {
  if (typeof value === 'number') return rounded(key, value)
  return value instanceof Float32Array ? Array.from(value) : value
}

const text = z.string().check(z.maxLength(MAX_TEXT))
const count = z.int().check(z.minimum(0), z.maximum(LAST_STEP))
const finite = z.number()
/** NaN in a run, null in a file. */
const number = z.pipe(
  z.nullable(z.number()),
  z.transform((value) => value ?? Number.NaN),
)
const list = <T extends z.ZodMiniType>(item: T, most = MAX_LIST) =>
  z.array(item).check(z.maxLength(most))
const record = <T extends z.ZodMiniType>(item: T, most = MAX_METRICS) =>
  z
    .record(text, item)
    .check(z.refine((values) => Object.keys(values as object).length <= most, 'too many names'))
const numbers = list(number)
const floats = z.pipe(
  list(number, MAX_NUMBERS),
  z.transform((values) => new Float32Array(values as number[])),
)

const turn = z.object({ role: z.enum(['assistant', 'tool']), text })
const reward = { reward_parts: z.optional(record(finite, 40)), reward_problem: z.optional(text) }
const sample = z.object({
  ...reward,
  prompt: text,
  response: text,
  turns: z.optional(list(turn, 64)),
  tool_problem: z.optional(text),
  ground_truth: text,
  score: finite,
  rm_score: z.optional(finite),
  advantage: number,
  response_length: count,
  is_ended: z.boolean(),
})
const answer = { input: text, output: text, gts: text, score: finite, is_ended: z.boolean() }
const generation = z.object({ ...answer, do_sample: z.boolean() })
const pair = z.object({
  prompt: text,
  chosen: text,
  rejected: text,
  chosen_score: number,
  rejected_score: number,
  chosen_task_score: z.optional(finite),
  rejected_task_score: z.optional(finite),
})
const traced = z
  .object({
    ...reward,
    prompt: text,
    response: text,
    ground_truth: text,
    score: finite,
    is_ended: z.boolean(),
    tokens: list(text),
    observed: z.optional(list(count)),
    columns: record(numbers, 40),
    group: z.object({ rewards: numbers, lengths: numbers, place: count }),
    layer_entropy: z.optional(z.object({ raw: floats, normed: floats })),
    reward_baseline: z.optional(finite),
  })
  .check(
    z.refine(
      ({ tokens, layer_entropy: of }) =>
        !of || (of.raw.length === of.normed.length && of.raw.length % tokens.length === 0),
      'the entropies of the layers are cut',
    ),
  )
const table = z.object({
  loss_mode: text,
  kl_coef: z.optional(finite),
  rows: count,
  nonzero_rewards: count,
  reward_std: z.optional(finite),
  whitened: z.optional(z.object({ mean: number, std: number })),
  updates: count,
  layers: z.optional(
    z.object({
      num_hidden_layers: count,
      cost_ms: z.optional(finite),
      refused: z.optional(text),
    }),
  ),
  samples: list(traced, 512),
})
const readout = z.object({
  entropy: floats,
  top: list(text, MAX_NUMBERS),
  top_probs: floats,
  next_prob: floats,
})
const lens = z
  .object({
    prompt: text,
    response: text,
    is_ended: z.boolean(),
    is_held_out: z.boolean(),
    tokens: list(text),
    prompt_length: count,
    raw: readout,
    normed: readout,
  })
  .check(
    z.refine(
      ({ tokens, raw, normed }) => isWhole(tokens.length, raw) && isWhole(tokens.length, normed),
      'a readout is cut',
    ),
  )
const observation = z.object({
  num_hidden_layers: count,
  rows: z.enum(['responses', 'demonstrations', 'held_out']),
  refused: z.optional(text),
  tokens: count,
  mean: record(numbers, 100),
  std: record(numbers, 100),
  layer: count,
  lenses: list(lens, 64),
  cost_ms: record(finite, 40),
})

/** Whether every position has as many layers, and each of them as many tokens. */
function isWhole(positions: number, { entropy, top, top_probs, next_prob }: LensReadout): boolean {
  const cells = entropy.length
  return (
    positions > 0 &&
    cells > 0 &&
    cells % positions === 0 &&
    next_prob.length === cells &&
    top.length % cells === 0 &&
    top_probs.length === top.length
  )
}

const event = z.discriminatedUnion('type', [
  z.object({ type: z.literal('phase'), step: count, phase: count, reason: text }),
  z.object({
    type: z.literal('step'),
    step: count,
    phase: count,
    phase_step: count,
    metrics: record(number),
  }),
  z.object({ type: z.literal('samples'), step: count, samples: list(sample, 512) }),
  z.object({ type: z.literal('generations'), step: count, generations: list(generation, 512) }),
  z.object({ type: z.literal('scored_pairs'), step: count, pairs: list(pair, 512) }),
  z.object({
    type: z.literal('memory'),
    memory: record(finite, 40),
    counts: record(finite, 40),
    rollout_dtype: z.optional(rolloutDTypeSchema),
  }),
  z.object({ type: z.literal('trace'), step: count, table }),
  z.object({ type: z.literal('observed'), step: count, observation }),
])

const file = z.object({
  recording: z.literal(RECORDING_VERSION),
  experiment: z.unknown(),
  adapter: z.object({
    vendor: text,
    architecture: text,
    description: text,
    is_software: z.boolean(),
    features: list(text),
    has_subgroups: z.boolean(),
    has_f16: z.boolean(),
    max_buffer_bytes: finite,
    max_binding_bytes: finite,
  }),
  date: z.string().check(z.regex(/^\d{4}-\d{2}-\d{2}$/)),
  versions: record(text, 20),
  tokens: z.optional(list(text)),
  events: list(z.tuple([z.number().check(z.minimum(0), z.maximum(LAST_MS)), event]), MAX_EVENTS),
})

export type ReadRecording =
  | { readonly ok: true; readonly recording: Recording }
  /** Why it cannot be played, in a sentence. */
  | { readonly ok: false; readonly problem: string }

const refuse = (problem: string): ReadRecording => ({ ok: false, problem })

/** A recording of a file's text. */
export function readRecording(source: string): ReadRecording {
  if (source.length > MAX_RECORDING_LENGTH)
    return refuse(`The file is too long to be a recording (${source.length} characters).`)
  let document: unknown
  try {
    document = JSON.parse(source)
  } catch {
    return refuse('The file is no recording: it is not JSON.')
  }
  const read = z.safeParse(file, document)
  if (!read.success) {
    const [{ path, message }] = read.error.issues
    return refuse(
      `The file is no recording of version ${RECORDING_VERSION}: ${path.join('.')}: ${message}`,
    )
  }
  const { events, adapter, date, versions, tokens } = read.data
  const parsed = parseExperiment(read.data.experiment)
  if (!parsed.ok)
    return refuse(`The recorded experiment cannot be read: ${parsed.issues[0].message}`)
  const { experiment } = parsed
  const phases = resolvePhases(experiment)
  let phase = 0
  const timed = events.map(([at_ms, event]) => {
    if (event.type === 'phase') phase = event.phase
    const told =
      event.type === 'trace' ? { ...event, table: { phase: phases[phase], ...event.table } } : event
    return { at_ms, event: told as unknown as RecordedEvent }
  })
  const problem = disorder(timed, phases.length)
  if (problem !== undefined) return refuse(problem)
  const facts = { adapter, date, versions, ...(tokens && { tokens }) }
  return { ok: true, recording: { experiment, ...facts, events: timed } }
}

/** What is out of order: steps, times and phases never go back. */
function disorder(events: Recording['events'], phases: number): string | undefined {
  let [lastMs, lastStep] = [0, -1]
  for (const [i, { at_ms, event }] of events.entries()) {
    if (at_ms < lastMs) return `Event ${i} of the recording comes before the one ahead of it.`
    lastMs = at_ms
    if ((event.type === 'step' || event.type === 'phase') && event.phase >= phases)
      return `Event ${i} of the recording is of phase ${event.phase}, which there is not.`
    if (event.type === 'trace' && event.table.phase?.kind !== 'rl')
      return `Event ${i} of the recording traces a phase that is none of reinforcement.`
    if (event.type === 'step') {
      if (event.step <= lastStep) return `Step ${event.step} of the recording comes twice.`
      lastStep = event.step
    } else if ('step' in event && event.step > Math.max(0, lastStep))
      return `Event ${i} of the recording tells of step ${event.step} before it was taken.`
  }
  return lastStep < 0 ? 'The recording has no steps.' : undefined
}
