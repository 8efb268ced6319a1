// Reads a trace that BuPO's fork of verl recorded while it trained: what it saw and computed in a
// few steps over its switch.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { readJson } from '../../src/cli/input/input_file.ts'
import { readSafetensors } from '../../src/formats/safetensors.ts'
import type { MatmulChoice } from '../../src/kernels/matmul/matmul_variants.ts'
import type { HfModel } from '../../src/model/hf/hf_model.ts'
import type { RlPhase } from '../../src/rl/config/phase.ts'
import { chosenRows, type RolloutBatch } from '../../src/rl/experience/batch.ts'
import { CaseError, Fields } from '../base/fields.ts'
import type { Pinned } from '../base/fixture.ts'
import { readCaseModel } from '../hf/model_case.ts'
import { phaseOfStep, readPlan, type TracePlan } from './bupo_settings.ts'
import { TraceSettings } from './trace_settings.ts'

/** One optimizer step. */
export interface TracedUpdate {
  readonly name: string
  readonly lr: number
  /** Rows of the step's batch, those of the first rank first. */
  readonly rows: readonly number[]
  /** What the fork reported, and the weights that it left behind. */
  readonly expected: Fields
}

/** One step: a batch with what the driver made of it, and its updates. */
export interface TracedStep {
  readonly step: number
  readonly phase: RlPhase
  readonly batch: RolloutBatch
  /** [B, R] */
  readonly old_log_probs: Float64Array
  readonly advantages: Float64Array
  readonly token_level_scores: Float64Array
  /** Of the reference, where there is a KL loss and the trace holds them. */
  readonly ref_log_prob: Float64Array | undefined
  readonly updates: readonly TracedUpdate[]
  readonly logged: Fields
  /** All weights after the step, where they lie beside the trace. */
  readonly weights: ReadonlyMap<string, ArrayLike<number>> | undefined
}

export interface BupoCase {
  readonly name: string
  readonly model: HfModel
  readonly matmul: MatmulChoice | undefined
  readonly plan: TracePlan
  /** Whether advantages compare the responses to a prompt, and such lie together. */
  readonly isGrouped: boolean
  /** Whether advantages are divided by the spread of a group. */
  readonly byStd: boolean
  readonly steps: readonly TracedStep[]
}

const FORMAT = 'bupo-trace-1'

/** Whether parsed JSON is such a trace. */
export const isBupoTrace = (json: unknown): boolean =>
  typeof json === 'object' && json !== null && 'format' in json && json.format === FORMAT

/** Reads a trace and the model that its job began with. Throws CaseError for what is not as it
 * should be. */
export async function openBupoCase(file: string, pinned: Pinned = {}): Promise<BupoCase> {
  const json = readJson(file) as Readonly<Record<string, unknown>>
  const modelFolder = modelBeside(file, json)
  const settings = new TraceSettings(json, dirname(modelFolder))
  const model = await readCaseModel(modelFolder, 'lm_head', pinned)
  const plan = readPlan(settings)
  const trace = new Fields(json, basename(file))
  settings.choice('algorithm.adv_estimator', ['grpo'], 'grpo')
  return {
    name: `${basename(dirname(file))}/${basename(file, '.json')}`,
    model,
    matmul: pinned.matmul,
    plan,
    isGrouped: json.grouped !== false,
    byStd: settings.flag('algorithm.norm_adv_by_std_in_grpo', true),
    steps: trace.list('steps').map((one) => readStep(one, file, model, plan)),
  }
}

/** The model that a trace names, that of a job of the same name, or the only one beside it. */
function modelBeside(file: string, trace: Readonly<Record<string, unknown>>): string {
  const folder = dirname(file)
  const word = basename(file, '.json').replace(/^trace_?/, '')
  const named = [trace.model, trace.job].filter((x) => typeof x === 'string')
  const jobs = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
  const alike = jobs.filter((name) => word !== '' && name.endsWith(word))
  const places = [...named, ...alike, 'job', '.', ...jobs]
  const candidates = places.flatMap((place) => [join(place, 'model'), place])
  const found = candidates
    .map((place) => join(folder, place))
    .find((place) => existsSync(join(place, 'config.json')))
  if (!found)
    throw new CaseError(`${basename(file)}: expected a model beside it (job/model), found none`)
  return found
}

function readStep(one: Fields, file: string, model: HfModel, plan: TracePlan): TracedStep {
  const step = one.number('step')
  const batch = readBatch(one)
  const like = { rows: batch.rows, columns: batch.response_length }
  const updates = one
    .list('updates')
    .map((update, i) => readUpdate(update, `step ${step}.${i + 1}`))
  const mini = updates[0]?.rows.length ?? 0
  if (mini === 0 || updates.some(({ rows }) => rows.length !== mini))
    throw new CaseError(`step ${step}: expected updates of equally many rows`)
  const sizes = { batch: batch.rows, mini, columns: batch.response_length }
  const weights = file.replace(/\.json$/, `_after_step${step}.safetensors`)
  const old = one.matrix('old_log_probs', like).data
  const advantages = one.matrix('advantages', like).data
  return {
    step,
    phase: phaseOfStep(plan, step, sizes, model.layout.shape.num_hidden_layers),
    batch,
    old_log_probs: old,
    advantages,
    token_level_scores: one.matrix('token_level_scores', like).data,
    ref_log_prob: one.optionalMatrix('ref_log_prob', like)?.data,
    updates,
    logged: one.has('logged') ? one.fields('logged') : new Fields({}, 'logged'),
    weights: existsSync(weights)
      ? new Map(
          [...readSafetensors(new Uint8Array(readFileSync(weights)), weights).tensors].map(
            ([name, { data }]) => [name, data],
          ),
        )
      : undefined,
  }
}

/** The batch as the actor got it, with masks and positions of its own. */
function readBatch(one: Fields): RolloutBatch {
  const ids = one.matrix('input_ids')
  const responses = one.tensor('responses', [ids.rows, undefined])
  const [rows, R] = responses.shape
  const mask = Float32Array.from(one.matrix('response_mask', { rows, columns: R }).data)
  const u32 = (name: string) => Uint32Array.from(one.matrix(name, ids).data)
  return {
    rows,
    prompt_length: ids.columns - R,
    response_length: R,
    input_ids: Uint32Array.from(ids.data),
    attention_mask: u32('attention_mask'),
    position_ids: u32('position_ids'),
    response_ids: Uint32Array.from(responses.data),
    response_mask: mask,
    response_lengths: Uint32Array.from({ length: rows }, (_, b) =>
      mask.subarray(b * R, (b + 1) * R).reduce((sum, m) => sum + m, 0),
    ),
    is_ended: Array.from({ length: rows }, () => true),
  }
}

function readUpdate(update: Fields, name: string): TracedUpdate {
  const range = () => {
    const [first, end] = update.vector('rows', 2)
    return Array.from({ length: end - first }, (_, i) => first + i)
  }
  const rows = update.has('row_lists') ? [...update.tensor('row_lists').data] : range()
  return { name, lr: update.number('lr'), rows, expected: update }
}

/** The step's batch with the rows of an update first, in their order, and [B, R] arrays
 * likewise. */
export function rowsOfUpdate({ batch }: TracedStep, { rows }: TracedUpdate) {
  const R = batch.response_length
  const others = Array.from({ length: batch.rows }, (_, b) => b).filter((b) => !rows.includes(b))
  const order = [...rows, ...others]
  return {
    batch: chosenRows(batch, order),
    cut: (x: Float64Array) =>
      Float64Array.from(order.flatMap((row) => [...x.subarray(row * R, (row + 1) * R)])),
  }
}
