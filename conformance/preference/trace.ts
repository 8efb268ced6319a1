// Reads trace.json beside the model that it began with: what TRL's preference trainers saw and
// computed in their first updates.
import { basename, join, resolve } from 'node:path'
import { readJson } from '../../src/cli/input/input_file.ts'
import type { MatmulChoice } from '../../src/kernels/matmul/matmul_variants.ts'
import type { HfModel } from '../../src/model/hf/hf_model.ts'
import { positionIds, type RolloutBatch } from '../../src/rl/experience/batch.ts'
import { CaseError, Fields } from '../base/fields.ts'
import type { Pinned } from '../base/fixture.ts'
import { readCaseModel } from '../hf/model_case.ts'
import { readTracePlan, type TracePlan } from './trace_settings.ts'

/** Rows of ids, each with its first token as the prompt, so that every other token can be
 * scored. */
export interface TracedRows {
  readonly batch: RolloutBatch
  /** Completion tokens among the scored ones, [rows, R]. */
  readonly completion_mask: Float64Array
  /** TRL's columns; the batch is as wide as the widest of its run. */
  readonly columns: number
}

/** One forward and backward. */
export interface TracedMicroBatch {
  readonly rows: TracedRows
  /** Prompts with completions of others; KTO alone. */
  readonly mismatched: TracedRows | undefined
  readonly labels: readonly boolean[]
  readonly expected: Fields
}

/** One optimizer step. */
export interface TracedUpdate {
  readonly name: string
  readonly micro_batches: readonly TracedMicroBatch[]
  readonly expected: Fields
}

export interface TracedRun {
  readonly name: string
  readonly plan: TracePlan
  readonly updates: readonly TracedUpdate[]
}

export interface TraceCase {
  readonly name: string
  readonly model: HfModel
  readonly matmul: MatmulChoice | undefined
  readonly runs: readonly TracedRun[]
}

/** Whether parsed JSON is a trace of these trainers. */
export function isPreferenceTrace(json: unknown): boolean {
  const runs = typeof json === 'object' && json !== null && 'runs' in json ? json.runs : undefined
  return (
    Array.isArray(runs) && runs.some((run) => /^(DPO|CPO|ORPO|KTO)Trainer$/.test(`${run?.trainer}`))
  )
}

/** Reads a folder. Throws ModelFileError or CaseError for what is not as it should be. */
export async function openTraceCase(folder: string, pinned: Pinned = {}): Promise<TraceCase> {
  const model = await readCaseModel(join(folder, 'model'), 'lm_head', pinned)
  const trace = new Fields(readJson(join(folder, 'trace.json')), 'trace.json')
  const runs = trace.list('runs').map((run) => readRun(run, model))
  return { name: basename(resolve(folder)), model, matmul: pinned.matmul, runs }
}

/** AdamW leaves out of its decay what the run says: every vector, and nothing else. Throws
 * CaseError for another choice. */
function requireDecay(run: Fields, { layout }: HfModel): void {
  // Without a decay nothing is left out of it.
  if (!run.has('no_decay') || run.fields('settings').number('weight_decay') === 0) return
  const told = new Set(run.texts('no_decay'))
  for (const { name, shape } of layout.params)
    if (told.has(name) !== (shape.length === 1))
      throw new CaseError(
        `${run.where}.no_decay: expected all vectors and no matrix, got another choice for ${name}`,
      )
}

function readRun(run: Fields, model: HfModel): TracedRun {
  const name = `${run.raw('name')}`
  const updates = run.list('updates')
  const microBatches = updates.map((update) => update.list('micro_batches'))
  const all = microBatches.flat()
  if (all.length === 0) throw new CaseError(`${run.where}.updates: expected micro-batches`)
  const width = Math.max(
    ...all.flatMap((one) =>
      ['input_ids', 'KL_input_ids'].map((ids) => (one.has(ids) ? one.matrix(ids).columns : 0)),
    ),
  )
  const { rows } = all[0].matrix('input_ids')
  const plan = readTracePlan(run, rows, model.layout.shape.num_hidden_layers)
  requireDecay(run, model)
  return {
    name,
    plan,
    updates: updates.map((expected, u) => ({
      name: `${name}/update ${u + 1}`,
      micro_batches: microBatches[u].map((one) => readMicroBatch(one, plan, width)),
      expected,
    })),
  }
}

function readMicroBatch(one: Fields, plan: TracePlan, width: number): TracedMicroBatch {
  const rows = readRows(one, '', plan, width)
  const isJudged = plan.trained.data === 'answers'
  const labels = isJudged ? labelsOf(one, rows.batch.rows) : []
  const hasKl = one.has('KL_input_ids')
  return {
    rows,
    mismatched: hasKl ? readRows(one, 'KL_', plan, width) : undefined,
    labels,
    expected: one,
  }
}

function labelsOf(one: Fields, rows: number): boolean[] {
  const labels = one.raw('label')
  if (!Array.isArray(labels) || labels.length !== rows)
    throw new CaseError(`${one.where}.label: expected ${rows} labels`)
  return labels.map(Boolean)
}

/** Ids and masks, padded on the right to `width` columns. */
function readRows(one: Fields, prefix: string, plan: TracePlan, width: number): TracedRows {
  const ids = one.matrix(`${prefix}input_ids`)
  const { rows, columns } = ids
  const attention = one.matrix(`${prefix}attention_mask`, ids).data
  const completion = one.matrix(`${prefix}completion_mask`, ids).data
  const padded = (values: Float64Array, skip = 0) => {
    const R = width - skip
    const wide = new Float64Array(rows * R)
    for (let i = 0; i < values.length; i++)
      if (i % columns >= skip) wide[Math.floor(i / columns) * R + (i % columns) - skip] = values[i]
    return wide
  }
  const attention_mask = Uint32Array.from(padded(attention))
  const scored = padded(plan.readsPrompts ? attention : completion, 1)
  return {
    columns: columns - 1,
    completion_mask: padded(completion, 1),
    batch: {
      rows,
      prompt_length: 1,
      response_length: width - 1,
      input_ids: Uint32Array.from(padded(ids.data)),
      attention_mask,
      position_ids: positionIds(attention_mask, width),
      response_ids: Uint32Array.from(padded(ids.data, 1)),
      response_mask: Float32Array.from(scored),
      response_lengths: Uint32Array.from({ length: rows }, (_, b) =>
        scored.subarray(b * (width - 1), (b + 1) * (width - 1)).reduce((sum, m) => sum + m, 0),
      ),
      is_ended: Array.from({ length: rows }, () => true),
    },
  }
}
