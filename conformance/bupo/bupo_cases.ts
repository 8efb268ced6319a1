// Replays a job that BuPO's fork of verl trained: recorded batches with their updates over the
// switch, with the recommended tolerances.

import { aggLossRef } from '../../src/kernels/policy_loss/loss_weights.ref.ts'
import { trainedPrefix } from '../../src/model/layout/flat_params.ts'
import { gcd } from '../../src/model/params/param_buffers.ts'
import { grpoAdvantages } from '../../src/rl/estimators/grpo.ts'
import type { Context } from '../base/fixture.ts'
import type { Check, Output, Place } from '../base/report.ts'
import { sliceOf } from '../trl/trl_trace.ts'
import { type Replay, replayGpu, replayRef, type Scored, type Updated } from './bupo_replay.ts'
import { losesLastLayer } from './bupo_settings.ts'
import { type BupoCase, openBupoCase, type TracedStep, type TracedUpdate } from './bupo_trace.ts'

const atol = (size: number) => ({ rtol: 0, atol: size })
/** Float32 kernels against float32 torch; a replay of its own in float64 is about as far off as the
 * bounds' tenth. */
const TOLERANCES = {
  log_probs: atol(1e-4),
  entropy: atol(1e-4),
  losses: { rtol: 1e-5, atol: 2e-6 },
  ppo_kl: atol(1e-5),
  grad_norm: { rtol: 2e-5, atol: 1e-4 },
  slices: atol(2e-5),
  weights: atol(2e-5),
  param_norms: { rtol: 5e-6, atol: 0 },
  advantages: atol(1e-5),
} as const

/** The checks of one trace. */
export async function* bupoCase(file: string, { gpu, ...pinned }: Context): AsyncGenerator<Check> {
  const c = await openBupoCase(file, pinned)
  for (const step of c.steps) yield* advantageChecks(c, step)
  yield* replayChecks(c, replayRef(c), 'reference')
  if (gpu) yield* replayChecks(c, await replayGpu(c, gpu), 'gpu')
}

async function* replayChecks(c: BupoCase, replay: Replay, on: Place): AsyncGenerator<Check> {
  for (const step of c.steps) {
    const at = `${c.name}/step ${step.step}`
    yield { case: `${at}/log_probs`, on, outputs: scoredOutputs(step, await replay.score(step)) }
    let found: Updated | undefined
    for (const update of step.updates) {
      found = await replay.update(step, update)
      yield { case: `${c.name}/${update.name}`, on, outputs: updateOutputs(c, step, update, found) }
    }
    const { weights } = step
    if (!weights || !found) continue
    const last = found.weights
    const outputs = [...weights].map(([name, expected]): [string, Output] => [
      name,
      { actual: last[name], expected: Float64Array.from(expected), tolerance: TOLERANCES.weights },
    ])
    yield { case: `${at}/weights`, on, outputs: Object.fromEntries(outputs) }
  }
}

/** Old log-probs of the policy that the phase trains, and the entropy of the whole model's. */
function scoredOutputs(step: TracedStep, found: Scored): Check['outputs'] {
  const { batch, phase, logged } = step
  const masked = (values: ArrayLike<number>) =>
    Float64Array.from(batch.response_mask, (m, i) => (m ? values[i] : 0))
  const compared = (actual: ArrayLike<number>, expected: Float64Array): Output => ({
    actual: masked(actual),
    expected: masked(expected),
    tolerance: TOLERANCES.log_probs,
  })
  const { loss_agg_mode, loss_scale_factor } = phase.actor
  const { loss } = aggLossRef(masked(found.entropies), batch.response_mask, batch.response_length, {
    loss_agg_mode,
    loss_scale_factor,
  })
  return {
    old_log_probs: compared(found.old_log_probs, step.old_log_probs),
    ...(found.ref_log_prob &&
      step.ref_log_prob && { ref_log_prob: compared(found.ref_log_prob, step.ref_log_prob) }),
    ...(logged.has('actor/entropy') && {
      'actor/entropy': {
        actual: loss,
        expected: logged.number('actor/entropy'),
        tolerance: TOLERANCES.entropy,
      },
    }),
  }
}

function updateOutputs(
  c: BupoCase,
  step: TracedStep,
  update: TracedUpdate,
  found: Updated,
): Check['outputs'] {
  const { expected } = update
  // A token whose ratio lies on the edge of the clip range may fall on either side.
  const oneToken = atol(1.01 / Math.max(1, tokensOf(c, step, update)))
  const numbers: Readonly<Record<string, readonly [number, Output['tolerance']]>> = {
    pg_loss: [found.metrics['actor/pg_loss'], TOLERANCES.losses],
    kl_loss: [found.metrics['actor/kl_loss'], TOLERANCES.losses],
    ppo_kl: [found.metrics['actor/ppo_kl'], TOLERANCES.ppo_kl],
    pg_clipfrac: [found.metrics['actor/pg_clipfrac'], oneToken],
    pg_clipfrac_lower: [found.metrics['actor/pg_clipfrac_lower'], oneToken],
    grad_norm: [found.grad_norm, TOLERANCES.grad_norm],
  }
  const outputs: Record<string, Output> = {}
  for (const [name, [actual, tolerance]] of Object.entries(numbers))
    if (expected.has(name)) outputs[name] = { actual, expected: expected.number(name), tolerance }
  return {
    ...outputs,
    ...weightOutputs(c, update, found),
    ...trainedOutputs(c, step, update, found),
  }
}

/** Tokens of the first rank. */
const tokensOf = ({ plan }: BupoCase, { batch }: TracedStep, { rows }: TracedUpdate): number =>
  rows.slice(0, rows.length / plan.ranks).reduce((sum, row) => sum + batch.response_lengths[row], 0)

function weightOutputs(c: BupoCase, { expected }: TracedUpdate, found: Updated): Check['outputs'] {
  const norms = expected.has('param_norms') ? expected.record('param_norms') : {}
  const slices = expected.has('slices') ? expected.fields('slices') : undefined
  const outputs: Record<string, Output> = {}
  for (const [name, norm] of Object.entries(norms)) {
    const actual = Math.hypot(...Array.from(found.weights[name] ?? []))
    outputs[`norm of ${name}`] = { actual, expected: norm, tolerance: TOLERANCES.param_norms }
  }
  for (const name of slices?.names() ?? [])
    outputs[name] = {
      actual: sliceOf(c.model, found.weights, name),
      expected: slices?.raw(name),
      tolerance: TOLERANCES.slices,
    }
  return outputs
}

/** Which parameters had a gradient, and AdamW's steps. Of several ranks the lists are of the shards
 * of one. */
function trainedOutputs(
  { plan, model: { layout } }: BupoCase,
  { phase }: TracedStep,
  { expected }: TracedUpdate,
  { stepsOf }: Updated,
): Check['outputs'] {
  const outputs: Record<string, Output> = {}
  // There the optimizer counts steps of parameters that the model does not read any more.
  if (losesLastLayer(plan)) return outputs
  const readsAll = phase.actor.entropy_coeff !== 0
  const end = trainedPrefix(layout, readsAll ? layout.numBlocks : phase.target_layer).count
  if (plan.ranks === 1 && expected.has('grad_is_none')) {
    const none = layout.params.filter(({ offset }) => offset >= end).map(({ name }) => name)
    const wanted = expected.texts('grad_is_none').sort()
    outputs.grad_is_none = { actual: none.sort(), expected: wanted, tolerance: 'exact' }
  }
  if (stepsOf && expected.has('adam_steps')) {
    const told = expected.fields('adam_steps')
    const names = told.names().filter((name) => plan.ranks === 1 || told.has(name))
    outputs.adam_steps = {
      actual: names.map((name) => stepsOf(name)),
      expected: names.map((name) => told.optionalNumber(name) ?? 0),
      tolerance: 'exact',
    }
  }
  return outputs
}

/** GRPO's advantages from the scores, where every group has one prompt. */
function* advantageChecks(c: BupoCase, step: TracedStep): Generator<Check> {
  const { batch, token_level_scores: scores, advantages } = step
  const { rows, prompt_length: P, response_length: R, response_mask } = batch
  const prompts = Array.from({ length: rows }, (_, b) =>
    batch.input_ids.subarray(b * (P + R), b * (P + R) + P).join(),
  )
  const group = c.isGrouped ? groupSize(prompts) : 1
  const groupOf = (b: number) => Math.floor(b / group)
  if (group < 2) return
  const totals = prompts.map((_, b) =>
    scores.subarray(b * R, (b + 1) * R).reduce((sum, x) => sum + x, 0),
  )
  const found = grpoAdvantages(
    totals,
    prompts.map((_, b) => groupOf(b)),
    { norm_adv_by_std_in_grpo: c.byStd },
  )
  const actual = Float64Array.from(response_mask, (m, i) => m * found[Math.floor(i / R)])
  const output = { actual, expected: advantages, tolerance: TOLERANCES.advantages }
  yield {
    case: `${c.name}/step ${step.step}/advantages`,
    on: 'driver',
    outputs: { advantages: output },
  }
}

/** Responses to a prompt: what the runs of equal prompts have in common, because a trace can be of
 * another size than its job. 1 = they do not lie together. */
function groupSize(prompts: readonly string[]): number {
  const runs: number[] = []
  prompts.forEach((prompt, b) => {
    if (b > 0 && prompt === prompts[b - 1]) runs[runs.length - 1]++
    else runs.push(1)
  })
  return runs.reduce(gcd)
}
