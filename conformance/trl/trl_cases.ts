// Checks a job folder that TRL's GRPOTrainer trained: its first updates, step by step, with the
// recommended tolerances.
import { readFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { grpoAdvantages } from '../../src/rl/estimators/grpo.ts'
import { tokenCount } from '../../src/rl/experience/batch.ts'
import { readJsonLines } from '../../src/tasks/data/readers/jsonl.ts'
import { mapRows } from '../../src/tasks/data/rows/mapping.ts'
import { textOfTruth } from '../../src/tasks/data/rows/row.ts'
import { STRICT } from '../../src/tasks/data/table/bad_rows.ts'
import { VERL_MAPPING } from '../../src/tasks/data/table/data_file.ts'
import { readVocabulary } from '../../src/tasks/data/vocabulary.ts'
import type { Context } from '../base/fixture.ts'
import type { Check, Output, Place } from '../base/report.ts'
import { type Replay, type Replayed, replayGpu, replayRef } from './trl_replay.ts'
import { TRL_EPSILON } from './trl_settings.ts'
import { openTrlCase, sliceOf, type TracedUpdate, type TrlCase } from './trl_trace.ts'

const atol = (size: number) => ({ rtol: 0, atol: size })
/** Float32 kernels against float32 torch: about ten times what an independent replay in torch
 * differs by. */
const TOLERANCES = {
  per_token_logps: atol(2e-4),
  entropies: atol(2e-4),
  loss: atol(2e-6),
  grad_norm: atol(1e-4),
  params: atol(2e-5),
  param_norms: { rtol: 5e-6, atol: 0 },
  advantages: atol(1e-5),
} as const

/** Float64 takes seconds per thousand tokens: larger batches are left to the kernels. */
const REFERENCE_ROWS = 64

/** The checks of one folder. */
export async function* trlCase(folder: string, { gpu, ...pinned }: Context): AsyncGenerator<Check> {
  const c = await openTrlCase(folder, pinned)
  const name = basename(resolve(folder))
  for (const update of c.updates) yield inputCheck(name, update)
  yield* advantageChecks(name, c)
  for (const run of runsOf(c.updates)) {
    const [first] = run
    if (first.batch.rows <= REFERENCE_ROWS)
      yield* replayChecks(name, c, run, replayRef(c, first), 'reference')
    if (gpu) yield* replayChecks(name, c, run, await replayGpu(c, gpu, first), 'gpu')
  }
}

/** Updates that follow each other on the same weights. */
function runsOf(updates: readonly TracedUpdate[]): TracedUpdate[][] {
  const runs: TracedUpdate[][] = []
  for (const update of updates)
    if (update.is_first || runs.length === 0) runs.push([update])
    else runs.at(-1)?.push(update)
  return runs
}

/** Which tokens count: TRL's mask and the lab's. */
function inputCheck(name: string, { name: update, ...given }: TracedUpdate): Check {
  const { batch, columns, completion_mask, expected } = given
  const exact = (actual: unknown, wanted: unknown): Output => ({
    actual,
    expected: wanted,
    tolerance: 'exact',
  })
  return {
    case: `${name}/${update}/inputs`,
    on: 'driver',
    outputs: {
      completion_mask: exact(cut(batch.response_mask, { batch, columns }), completion_mask),
      num_items_in_batch: exact(tokenCount(batch), expected.number('num_items_in_batch')),
    },
  }
}

/** [B, R] in TRL's columns. */
function cut(
  values: Float32Array | Float64Array,
  { batch, columns }: Pick<TracedUpdate, 'batch' | 'columns'>,
): Float64Array {
  const R = batch.response_length
  return Float64Array.from(values).filter((_, i) => i % R < columns)
}

async function* replayChecks(
  name: string,
  c: TrlCase,
  run: readonly TracedUpdate[],
  replay: Replay,
  on: Place,
): AsyncGenerator<Check> {
  for (const update of run) {
    const outputs = updateOutputs(c, update, await replay(update))
    yield { case: `${name}/${update.name}`, on, outputs }
  }
}

function updateOutputs(c: TrlCase, update: TracedUpdate, found: Replayed): Check['outputs'] {
  const { batch, expected } = update
  const params = expected.fields('params')
  const norms = expected.record('param_norms')
  const masked = (values: ArrayLike<number>) =>
    Float64Array.from(values, (x, i) => (batch.response_mask[i] ? x : 0))
  const kept = (values: ArrayLike<number>) => cut(masked(values), update)
  const normOf = (name: string) => Math.hypot(...Array.from(found.weights[name] ?? []))
  const computed = {
    per_token_logps: kept(found.per_token_logps),
    entropies: kept(found.entropies),
    loss: found.loss,
    grad_norm: found.grad_norm,
    params: Object.fromEntries(
      params.names().map((name) => [name, sliceOf(c.model, found.weights, name)]),
    ),
    param_norms: Object.fromEntries(Object.keys(norms).map((name) => [name, normOf(name)])),
  }
  return Object.fromEntries(
    Object.entries(computed).map(([name, actual]) => [
      name,
      {
        actual,
        expected: expected.raw(name),
        tolerance: TOLERANCES[name as keyof typeof computed],
      },
    ]),
  )
}

/** Advantages of the first batch of every run, from its texts and the data's answers, where one row
 * alone has the prompt. */
function* advantageChecks(name: string, { folder, updates }: TrlCase): Generator<Check> {
  const file = join(folder, 'data', 'train.jsonl')
  const rows = mapRows(readJsonLines(readFileSync(file, 'utf8'), file, STRICT), VERL_MAPPING, file)
  const answers = new Map(
    rows.flatMap((made) => (made ?? []).map((row) => [row.prompt, textOfTruth(row.ground_truth)])),
  )
  const vocabulary = join(folder, 'model', 'tokenizer.json')
  const { decode } = readVocabulary(readFileSync(vocabulary, 'utf8'), vocabulary)
  for (const { name: update, batch, plan, advantages } of updates) {
    const { prompt_length: P, response_length: R, input_ids, response_ids } = batch
    const prompts = Array.from({ length: batch.rows }, (_, b) =>
      decode(input_ids.subarray(b * (P + R), b * (P + R) + P)),
    )
    const chosen = prompts.flatMap((prompt, b) =>
      prompts.filter((other) => other === prompt).length === plan.num_generations ? [b] : [],
    )
    const scores = chosen.map((b) => {
      const text = decode(response_ids.subarray(b * R, (b + 1) * R))
      return text === answers.get(prompts[b]) ? 1 : 0
    })
    const index = chosen.map((b) => prompts.indexOf(prompts[b]))
    const actual = grpoAdvantages(scores, index, { norm_adv_epsilon: TRL_EPSILON })
    const expected = chosen.map((b) => advantages[b])
    const output = { actual, expected, tolerance: TOLERANCES.advantages }
    yield { case: `${name}/${update}/advantages`, on: 'driver', outputs: { advantages: output } }
  }
}
