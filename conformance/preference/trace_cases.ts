// Replays updates of TRL's preference trainers one by one with the recommended tolerances.
import type { Context } from '../base/fixture.ts'
import type { Check, Output, Place } from '../base/report.ts'
import { sliceOf } from '../trl/trl_trace.ts'
import {
  openTraceCase,
  type TraceCase,
  type TracedMicroBatch,
  type TracedRows,
  type TracedUpdate,
} from './trace.ts'
import { type Replay, type ReplayedMicroBatch, replayGpu, replayRef } from './trace_replay.ts'

const atol = (size: number) => ({ rtol: 0, atol: size })
/** Float32 kernels against float32 torch: at least a hundred times what an independent replay in
 * torch differs by. */
const TOLERANCES = {
  log_probs: atol(2e-4),
  loss: atol(2e-5),
  metrics: atol(5e-5),
  grad_norm: { rtol: 2e-4, atol: 0 },
  params: atol(2e-5),
  param_norms: { rtol: 5e-6, atol: 0 },
} as const

/** The checks of one folder. */
export async function* preferenceTraceCase(
  folder: string,
  { gpu, ...pinned }: Context,
): AsyncGenerator<Check> {
  const c = await openTraceCase(folder, pinned)
  for (const run of c.runs) {
    yield* replayChecks(c, run.updates, replayRef(c, run), 'reference')
    if (gpu) yield* replayChecks(c, run.updates, await replayGpu(c, gpu, run), 'gpu')
  }
}

async function* replayChecks(
  c: TraceCase,
  updates: readonly TracedUpdate[],
  replay: Replay,
  on: Place,
): AsyncGenerator<Check> {
  for (const update of updates) {
    const { micro_batches, grad_norm, weights } = await replay(update)
    const { expected } = update
    const outputs: Record<string, Output> = {}
    update.micro_batches.forEach((micro, i) => {
      const prefix = micro_batches.length > 1 ? `${i + 1}.` : ''
      for (const [name, output] of Object.entries(microOutputs(micro, micro_batches[i])))
        outputs[`${prefix}${name}`] = output
    })
    const losses = micro_batches.map(({ found }) => found.loss)
    const params = expected.fields('params')
    const norms = expected.record('param_norms')
    const normOf = (name: string) => Math.hypot(...Array.from(weights[name] ?? []))
    const computed = {
      loss: losses.reduce((sum, loss) => sum + loss, 0) / losses.length,
      grad_norm,
      params: Object.fromEntries(
        params.names().map((name) => [name, sliceOf(c.model, weights, name)]),
      ),
      param_norms: Object.fromEntries(Object.keys(norms).map((name) => [name, normOf(name)])),
    }
    for (const [name, actual] of Object.entries(computed)) {
      const tolerance = TOLERANCES[name as keyof typeof computed]
      const key = micro_batches.length > 1 ? `update.${name}` : name
      outputs[key] = { actual, expected: expected.raw(name), tolerance }
    }
    yield { case: `${c.name}/${update.name}`, on, outputs }
  }
}

function microOutputs(micro: TracedMicroBatch, replayed: ReplayedMicroBatch): Check['outputs'] {
  const { rows, mismatched, expected } = micro
  const { scored, found } = replayed
  const logProbs = (name: string, of: TracedRows, values: ArrayLike<number> | undefined) => ({
    ...(values && { [name]: compared(of, values, expected.raw(name), TOLERANCES.log_probs) }),
  })
  const metrics: Record<string, number> = { ...found.metrics }
  const told = expected.record('metrics')
  if ('entropy' in told) metrics.entropy = meanOver(rows, replayed.entropies, rows.batch.rows)
  // Of the chosen rows. The kernels do not say which token is likeliest.
  if (replayed.hits && 'mean_token_accuracy' in told)
    metrics.mean_token_accuracy = meanOver(rows, replayed.hits, rows.batch.rows / 2)
  const { mean_token_accuracy, ...wanted } = told
  const ofMetrics = {
    actual: metrics,
    expected: replayed.hits ? told : wanted,
    tolerance: TOLERANCES.metrics,
  }
  return {
    ...logProbs('policy_logps', rows, scored.policy),
    ...logProbs('ref_logps', rows, scored.reference),
    ...(mismatched && {
      ...logProbs('policy_KL_logps', mismatched, replayed.mismatched?.policy),
      ...logProbs('ref_KL_logps', mismatched, replayed.mismatched?.reference),
    }),
    loss: { actual: found.loss, expected: expected.number('loss'), tolerance: TOLERANCES.loss },
    metrics: ofMetrics,
  }
}

/** Completion tokens in TRL's columns, 0 elsewhere. */
function compared(
  { completion_mask, columns, batch }: TracedRows,
  values: ArrayLike<number>,
  expected: unknown,
  tolerance: Output['tolerance'],
): Output {
  const R = batch.response_length
  const masked = completion_mask.map((m, i) => (m ? values[i] : 0))
  return { actual: masked.filter((_, i) => i % R < columns), expected, tolerance }
}

/** The mean over the completion tokens of the first `count` rows. */
function meanOver(
  { completion_mask, batch }: TracedRows,
  values: ArrayLike<number>,
  count: number,
) {
  const end = count * batch.response_length
  let sum = 0
  let tokens = 0
  for (let i = 0; i < end; i++) {
    if (!completion_mask[i]) continue
    sum += values[i]
    tokens++
  }
  return sum / tokens
}
