// Reads trace.json of an exported job that TRL trained: what its GRPOTrainer saw and computed in
// its first updates.
import { join } from 'node:path'
import { readJson } from '../../src/cli/input/input_file.ts'
import type { MatmulChoice } from '../../src/kernels/matmul/matmul_variants.ts'
import type { HfModel } from '../../src/model/hf/hf_model.ts'
import { makeBatch, type RolloutBatch, widenRows } from '../../src/rl/experience/batch.ts'
import { CaseError, Fields } from '../base/fields.ts'
import type { Pinned } from '../base/fixture.ts'
import { readCaseModel } from '../hf/model_case.ts'
import { readPlan, type TrlPlan } from './trl_settings.ts'

/** One optimizer step. */
export interface TracedUpdate {
  readonly name: string
  /** The first one of a run begins with the weights of model/. */
  readonly is_first: boolean
  readonly plan: TrlPlan
  readonly batch: RolloutBatch
  /** [B]; the same for every token of a row. */
  readonly advantages: Float64Array
  /** [B, R]; null: the log-probs of the policy as it is. */
  readonly old_log_probs: Float64Array | null
  /** TRL's columns: the longest completion of the batch. */
  readonly columns: number
  /** Per row, of TRL's columns. */
  readonly completion_mask: unknown
  readonly expected: Fields
}

/** A job folder with the trace of TRL's training. */
export interface TrlCase {
  readonly folder: string
  readonly model: HfModel
  /** Kernels of the linear layers, where they are not the default ones. */
  readonly matmul: MatmulChoice | undefined
  readonly updates: readonly TracedUpdate[]
}

/** Reads a folder. Throws ModelFileError or CaseError for what is not as it should be. */
export async function openTrlCase(folder: string, pinned: Pinned = {}): Promise<TrlCase> {
  const model = await readCaseModel(join(folder, 'model'), 'lm_head', pinned)
  const settings = readSettings(folder)
  const trace = new Fields(readJson(join(folder, 'trace.json')), 'trace.json')
  const updates = trace.list('cases').map((one) => readUpdate(one, model, settings))
  return { folder, model, matmul: pinned.matmul, updates }
}

/** GRPOConfig's settings of the runs of curve.json, by name. */
function readSettings(folder: string): ReadonlyMap<string, unknown> {
  const curve = new Fields(readJson(join(folder, 'curve.json')), 'curve.json')
  return new Map(curve.list('runs').map((run) => [`${run.raw('name')}`, run.raw('settings')]))
}

function readUpdate(
  one: Fields,
  model: HfModel,
  settings: ReadonlyMap<string, unknown>,
): TracedUpdate {
  const name = `${one.raw('name')}`
  const config = one.fields('config')
  const own = config.has('settings') ? config.raw('settings') : settings.get(`${config.raw('run')}`)
  const { num_hidden_layers } = model.layout.shape
  const runSettings = new Fields(own, `${name}.settings`)
  const inputs = one.fields('inputs')
  const prompts = inputs.tensor('prompt_ids')
  const completions = inputs.tensor('completion_ids')
  const [rows, columns] = completions.shape
  const response_length = runSettings.number('max_completion_length')
  const size = { rows, response_length, prompt_length: prompts.shape[1] }
  const prompt = {
    input_ids: Uint32Array.from(prompts.data),
    attention_mask: Uint32Array.from(inputs.tensor('prompt_mask').data),
  }
  // TRL pads to the longest completion of a batch, the trainer's buffers hold the longest possible.
  const ids = widenRows(Uint32Array.from(completions.data), columns, response_length, 0)
  const old = inputs.has('old_per_token_logps')
    ? inputs.tensor('old_per_token_logps', [rows, columns]).data
    : undefined
  return {
    name,
    is_first: config.number('update') === 1,
    plan: readPlan(runSettings, num_hidden_layers),
    batch: makeBatch(prompt, ids, size, model.eos_token_ids),
    advantages: Float64Array.from(inputs.vector('advantages', rows)),
    columns,
    old_log_probs: old ? widen(old, columns, response_length) : null,
    completion_mask: inputs.raw('completion_mask'),
    expected: one.fields('expected'),
  }
}

/** [B, columns] to [B, width], 0 behind. */
function widen(values: Float64Array, columns: number, width: number): Float64Array {
  const wide = new Float64Array((values.length / columns) * width)
  for (let i = 0; i < values.length; i++)
    wide[Math.floor(i / columns) * width + (i % columns)] = values[i]
  return wide
}

/** The parameter of a name like `model.norm.weight` or, for row 5 of it,
 * `model.embed_tokens.weight[5]`. */
export function sliceOf(
  { layout }: HfModel,
  weights: Readonly<Record<string, ArrayLike<number>>>,
  name: string,
): Float64Array {
  const [, param, row] = /^([^[\]]+)(?:\[(\d+)\])?$/.exec(name) ?? []
  const found = layout.params.find((one) => one.name === param)
  if (!found) throw new CaseError(`params: there is no ${name}`)
  const values = Float64Array.from(weights[param])
  const columns = found.shape[1] ?? found.size
  return row === undefined ? values : values.slice(+row * columns, (+row + 1) * columns)
}
