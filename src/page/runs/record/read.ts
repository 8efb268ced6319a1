// Reads records back: from another version, another tab, or half written. Nothing is
// believed, nothing throws.
import * as z from 'zod/mini'
import { parseExperiment } from '../../../document/experiment/experiment.ts'
import { rolloutDTypeSchema } from '../../../document/experiment/rollout_dtype.ts'
import { presentKernels } from '../../../document/experiment/steering/steered_kernels.ts'
import { steeringWords } from '../../../document/experiment/steering/words.ts'
import { appendRow, Series } from '../../../host/columns/series.ts'
import { isThinned } from '../../../host/columns/thinning.ts'
import type { Observation } from '../../../host/protocol/observation.ts'
import type { Generation, RolloutSample, TokenTable } from '../../../host/protocol/results.ts'
import {
  emptyKept,
  KEPT_KINDS,
  type KeptOfRun,
  keepGenerations,
  keepObservation,
  keepSamples,
  keepTrace,
} from '../../../record/run/kept_run.ts'
import { RECORD_STATUSES, RECORD_VERSION, type RunHeader } from '../../../record/run/record.ts'
import type { StoredRun } from '../../../record/run/storage.ts'
import { PHASE_REASONS } from '../../../rl/config/phase.ts'
import { emptyRun, initialState, type LabState } from '../../state/store.ts'
import { fieldOf } from './record_fields.ts'

export type ReadHeader =
  | { readonly ok: true; readonly header: RunHeader }
  | { readonly ok: false; readonly why: string }

const whole = z.int().check(z.minimum(0))
const number = z.union([z.number(), z.nan(), z.literal([Infinity, -Infinity])])
const texts = z.array(z.string())

const summary = z.object({
  count: whole,
  last: number,
  lowest: number,
  highest: number,
  smooth_last: number,
  smooth_lowest: number,
  smooth_highest: number,
  average: number,
})

const headerSchema = z.object({
  id: z.string().check(z.minLength(1), z.maxLength(100)),
  preset_id: z.string(),
  adapter: z.string(),
  kernels: z.string(),
  rollout_dtype: z.optional(rolloutDTypeSchema),
  tokens: z.optional(z.array(z.string()).check(z.minLength(1))),
  versions: z.object({ understory: z.string(), protocol: z.number() }),
  started_at: z.number(),
  ended_at: z.optional(z.number()),
  status: z.enum(RECORD_STATUSES),
  error: z.optional(z.object({ name: z.string(), code: z.string(), message: z.string() })),
  step: whole,
  phase: whole,
  phase_step: whole,
  phase_switches: z.array(z.object({ step: whole, phase: whole, reason: z.enum(PHASE_REASONS) })),
  steered: z.array(
    z.object({
      entry: z.looseObject({ step: whole, kind: z.string() }),
      refused: z.optional(z.string()),
    }),
  ),
  metrics: z.record(z.string(), number),
  summaries: z.record(z.string(), summary),
  parent: z.optional(z.string()),
  parent_step: z.optional(whole),
  was_left: z.optional(z.boolean()),
  source: z.optional(
    z.object({
      kind: z.string(),
      file: z.string(),
      remarks: texts,
      names: z.optional(z.record(z.string(), z.string())),
      begun: z.optional(number),
      seed: z.optional(whole),
      setting: z.optional(z.string()),
      is_cut: z.optional(z.boolean()),
    }),
  ),
})

/** A header of the database, or in a sentence why it is none. */
export function readHeader(value: unknown): ReadHeader {
  const refuse = (why: string): ReadHeader => ({ ok: false, why })
  const version = fieldOf(value, 'record_version')
  if (typeof version === 'number' && version > RECORD_VERSION)
    return refuse('It was written by a newer version of this page.')
  if (version !== RECORD_VERSION) return refuse('It has no version that is known here.')
  const parsed = headerSchema.safeParse(value)
  if (!parsed.success) {
    const [{ path, message }] = parsed.error.issues
    return refuse(`${path.join('.')}: ${message}`)
  }
  const document = parseExperiment(fieldOf(value, 'document'))
  if (!document.ok)
    return refuse(`document.${document.issues[0].path}: ${document.issues[0].message}`)
  // Mostly they are the same object.
  const isSame = fieldOf(value, 'experiment') === fieldOf(value, 'document')
  const own = isSame ? document : parseExperiment(fieldOf(value, 'experiment'))
  if (!own.ok) return refuse(`experiment.${own.issues[0].path}: ${own.issues[0].message}`)
  // With every default filled in: an older version may have written less.
  const header: RunHeader = {
    ...(value as RunHeader),
    document: document.experiment,
    experiment: own.experiment,
  }
  const phases = header.experiment.phases.length
  if (header.phase >= phases || header.phase_switches.some(({ phase }) => phase >= phases))
    return refuse(`phase: expected one of ${phases}`)
  try {
    for (const { entry } of header.steered) steeringWords(entry)
  } catch {
    return refuse('steered: an entry says nothing that is known here')
  }
  return { ok: true, header }
}

const isColumn = (value: unknown): value is Float64Array => value instanceof Float64Array

/** Columns out of their parts, in order; rows that go back in steps are passed over, and parts that
 * are none. */
export function readSeries(chunks: readonly unknown[]): Map<string, Series> {
  const series = new Map<string, Series>()
  for (const chunk of chunks) {
    const columns = fieldOf(chunk, 'columns')
    if (typeof columns !== 'object' || columns === null) continue
    for (const [metric, column] of Object.entries(columns)) {
      const [steps, values] = [fieldOf(column, 'steps'), fieldOf(column, 'values')]
      if (!isColumn(steps) || !isColumn(values) || steps.length !== values.length) continue
      const thinned = fieldOf(column, 'thinned')
      const known = series.get(metric)
      // A column that was thinned lies whole in one part.
      if (!known) series.set(metric, new Series(isThinned(thinned) ? thinned : undefined))
      let last = known?.steps[known.length - 1] ?? Number.NEGATIVE_INFINITY
      for (let i = 0; i < steps.length; i++)
        if (Number.isSafeInteger(steps[i]) && steps[i] > last) {
          last = steps[i]
          appendRow(series, metric, last, values[i])
        }
    }
  }
  return series
}

const sample = z.looseObject({
  prompt: z.string(),
  response: z.string(),
  ground_truth: z.string(),
  score: z.number(),
  advantage: number,
  is_ended: z.boolean(),
})
const generation = z.looseObject({
  input: z.string(),
  output: z.string(),
  gts: z.string(),
  score: z.number(),
  do_sample: z.optional(z.boolean()),
  is_ended: z.optional(z.boolean()),
})
const values = z.record(z.string(), z.array(number))
const floats = z.instanceof(Float32Array)
const readout = z.object({
  entropy: floats,
  top: z.array(z.string()),
  top_probs: floats,
  next_prob: floats,
})
const estimate = z.looseObject({ mean: z.number(), interval: z.number() })
const partCosts = z.looseObject({
  problems: whole,
  untouched: z.looseObject({
    reward: z.number(),
    log_prob: z.optional(z.number()),
    entropies: z.array(z.number()),
  }),
  parts: z
    .array(
      z.looseObject({
        where: z.enum(['attention', 'head', 'feed_forward', 'block']),
        layer: whole,
        head: z.optional(whole),
        reward: estimate,
        log_prob: z.optional(estimate),
        entropies: z.array(estimate),
      }),
    )
    .check(z.minLength(1)),
})
const observation = z.looseObject({
  parts: z.optional(partCosts),
  num_hidden_layers: whole,
  tokens: whole,
  mean: values,
  std: values,
  layer: whole,
  lenses: z.array(z.looseObject({ tokens: z.array(z.string()), raw: readout, normed: readout })),
  readings: z.optional(
    z.array(
      z.looseObject({
        readout: z.enum(['tuned', 'jacobian']),
        fitted_after: z.optional(whole),
        entropy: z.array(z.number()),
        kl: z.array(z.number()),
      }),
    ),
  ),
  cost_ms: z.record(z.string(), z.number()),
})
const table = z.looseObject({
  phase: z.looseObject({ kind: z.string(), name: z.string() }),
  layers: z.optional(
    z.looseObject({ cost_ms: z.optional(z.number()), refused: z.optional(z.string()) }),
  ),
  samples: z
    .array(
      z.looseObject({
        prompt: z.string(),
        response: z.string(),
        ground_truth: z.string(),
        tokens: z.array(z.string()),
        columns: z.record(z.string(), z.any()),
        layer_entropy: z.optional(z.object({ raw: floats, normed: floats })),
      }),
    )
    .check(z.minLength(1)),
})

/** Puts one item where it belongs; false when it is none. */
function keepItem(kept: KeptOfRun, value: unknown): boolean {
  const [kind, step, item] = ['kind', 'step', 'item'].map((name) => fieldOf(value, name))
  if (typeof step !== 'number' || !KEPT_KINDS.some((known) => known === kind)) return false
  if (kind === 'samples' && z.array(sample).safeParse(item).success)
    keepSamples(kept, step, item as readonly RolloutSample[])
  else if (kind === 'observations' && observation.safeParse(item).success)
    keepObservation(kept, step, item as Observation)
  else if (kind === 'traces' && table.safeParse(item).success)
    keepTrace(kept, step, item as TokenTable)
  else if (kind === 'generations' && z.array(generation).safeParse(item).success)
    keepGenerations(kept, step, item as readonly Generation[])
  else return false
  return true
}

const stepOf = (value: unknown): number => Number(fieldOf(value, 'step'))
const SHOWN_SAMPLES = 8

const endedAs = (status: RunHeader['status']) =>
  status === 'finished' || status === 'failed' ? status : 'stopped'

/** A run to look at, and how many of its kept items could not be read. */
export interface PastRun {
  readonly state: LabState
  readonly unreadable: number
}

/** The state of a page that shows this run and nothing else. Its `run` is -`number`, which no
 * current run has. Status: finished, failed, or stopped for all others: one that continues in
 * another tab does nothing here. */
export function readRun(header: RunHeader, stored: StoredRun, number: number): PastRun {
  const kept = emptyKept()
  const items = [...stored.items].sort((a, b) => stepOf(a) - stepOf(b))
  const unreadable = items.filter((item) => !keepItem(kept, item)).length
  const { document, experiment, step, phase, phase_step, phase_switches, steered } = header
  const trace = kept.traces.at(undefined)
  const state: LabState = {
    ...initialState(),
    ...emptyRun(),
    status: endedAs(header.status),
    run: -number,
    experiment,
    runExperiment: experiment,
    runDocument: document,
    preset_id: header.preset_id,
    steered,
    matmul: presentKernels(header.kernels, steered),
    kernels: header.kernels,
    rollout_dtype: header.rollout_dtype,
    tokens: header.tokens,
    phase,
    phase_step,
    phase_switches,
    step,
    metrics: header.metrics,
    series: readSeries(stored.chunks),
    samples: kept.samples.items
      .slice(-SHOWN_SAMPLES)
      .map(({ step, item }) => ({ step, samples: item })),
    kept,
    keptVersion: 1,
    trace: trace && { step: trace.step, table: trace.item },
    error: header.error,
  }
  return { state, unreadable }
}
