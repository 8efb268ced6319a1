// Runs one objective on one golden batch, through the function that the trainer records its updates
// with.

import {
  LOSS_AGG_MODES,
  type LossAggMode,
} from '../../src/kernels/policy_loss/aggregations/aggregations.ts'
import { type Aggregation, aggregationParams } from '../../src/kernels/policy_loss/loss_weights.ts'
import { POLICY_LOSS_SUMS } from '../../src/kernels/policy_loss/policy_loss_frame.ts'
import { ROLLOUT_CORRECTION_SUMS } from '../../src/kernels/rollout_correction/rollout_correction.ts'
import { ACTOR_DEFAULTS } from '../../src/rl/config/actor.ts'
import {
  type LossCounts,
  OBJECTIVE_LIVE,
  type Objective,
  type ObjectiveLive,
  type ObjectiveTensors,
  objectiveLive,
  recordObjective,
} from '../../src/rl/learners/objective.ts'
import { type LossMode, numbersAsSettings, policyLossOf } from '../../src/rl/losses/losses.ts'
import type { Fields } from './fields.ts'
import { type Fixture, isJanuary } from './fixture.ts'
import type { Scratch } from './gpu_scratch.ts'

type Numbers = ArrayLike<number>
type LiveActor = Parameters<typeof objectiveLive>[0]
type Live = Record<ObjectiveLive, number>

/** A batch of responses, all [rows, response_length]. */
export interface LossBatch {
  readonly rows: number
  readonly response_length: number
  readonly response_mask: Numbers
  readonly log_probs: Numbers
  readonly old_log_probs: Numbers
  readonly advantages: Numbers
  readonly rollout_is_weights: Numbers | null
}

/** The numbers of a loss that fixtures give; what they leave out has verl's default. */
export interface LossSettings {
  readonly actor: LiveActor
  readonly aggregation: Aggregation
}

/** Reads inputs named as verl's arguments; `old` names the policy that the batch came from. */
export function readLossBatch(
  inputs: Fields,
  old: 'old_log_prob' | 'rollout_log_prob' = 'old_log_prob',
): LossBatch {
  const mask = inputs.matrix('response_mask')
  return {
    rows: mask.rows,
    response_length: mask.columns,
    response_mask: mask.data,
    log_probs: inputs.matrix('log_prob', mask).data,
    old_log_probs: inputs.matrix(old, mask).data,
    advantages: inputs.matrix('advantages', mask).data,
    rollout_is_weights: inputs.optionalMatrix('rollout_is_weights', mask)?.data ?? null,
  }
}

/** Rows [first, first + count) of a batch. */
export function rowsOf(batch: LossBatch, first: number, count: number): LossBatch {
  const R = batch.response_length
  const cut = (x: Numbers) => Array.prototype.slice.call(x, first * R, (first + count) * R)
  return {
    rows: count,
    response_length: R,
    response_mask: cut(batch.response_mask),
    log_probs: cut(batch.log_probs),
    old_log_probs: cut(batch.old_log_probs),
    advantages: cut(batch.advantages),
    rollout_is_weights: batch.rollout_is_weights && cut(batch.rollout_is_weights),
  }
}

/** verl's names of the aggregations as `source` computes them: one changed after January. */
function readMode(config: Fields, source: Pick<Fixture, 'source'>): LossAggMode {
  const mode = config.choice('loss_agg_mode', LOSS_AGG_MODES, 'token-mean')
  const hasChanged = mode === 'seq-mean-token-sum-norm' && !isJanuary(source)
  return hasChanged ? 'seq-mean-token-sum-norm-0.7.1' : mode
}

/** The optional counts of verl's agg_loss. */
export function readAggregation(
  config: Fields,
  source: Pick<Fixture, 'source'>,
  counts: Fields = config,
): Aggregation {
  return { loss_agg_mode: readMode(config, source), ...readCounts(counts) }
}

/** What agg_loss divides by, as far as it is given. */
export const readCounts = (counts: Fields): Omit<Aggregation, 'loss_agg_mode'> => ({
  dp_size: counts.optionalNumber('dp_size') ?? null,
  batch_num_tokens: counts.optionalNumber('batch_num_tokens') ?? null,
  global_batch_size: counts.optionalNumber('global_batch_size') ?? null,
  loss_scale_factor: counts.optionalNumber('loss_scale_factor') ?? null,
})

/** verl's actor config as the fixtures hold it. */
export function readLossSettings(config: Fields, source: Pick<Fixture, 'source'>): LossSettings {
  const counts = config.has('global_batch_info') ? config.fields('global_batch_info') : config
  const aggregation = readAggregation(config, source, counts)
  const clipRatio = config.number('clip_ratio', 0.2)
  const selection = config.has('policy_loss') ? config.fields('policy_loss') : undefined
  return {
    aggregation,
    actor: {
      ...ACTOR_DEFAULTS,
      loss_agg_mode: aggregation.loss_agg_mode,
      loss_scale_factor: aggregation.loss_scale_factor ?? null,
      ...numbersAsSettings((number, name) => {
        const fields = number.section === 'actor' ? config : selection
        // As in verl, clip_ratio counts only where its two sides are not given.
        const isSide = name === 'clip_ratio_low' || name === 'clip_ratio_high'
        const fallback = isSide ? clipRatio : number.default
        return fields?.number(name, fallback) ?? fallback
      }),
    },
  }
}

const sum = (x: Numbers) => Array.prototype.reduce.call(x, (a, b) => (a as number) + b, 0) as number

/** Live numbers for a batch that is a whole mini-batch, divided by the counts that the fixture
 * gives or by its own. */
export function liveOf(settings: LossSettings, lossMode: LossMode, batch: LossBatch): Live {
  const tokens = sum(batch.response_mask)
  const counts = {
    miniRows: batch.rows,
    miniTokens: tokens,
    microRows: batch.rows,
    microTokens: tokens,
  }
  return { ...liveOfPart(settings, lossMode, counts), ...aggregationParams(settings.aggregation) }
}

/** Live numbers for one micro-batch, by the trainer's own rule. */
export function liveOfPart({ actor }: LossSettings, lossMode: LossMode, counts: LossCounts): Live {
  return objectiveLive(actor, lossMode, counts, 0)
}

/** Everything an objective binds: uploads of the batch, and outputs that hold nonsense. `given`
 * replaces some of them. */
export function objectiveTensors(
  { f32, output }: Scratch,
  batch: LossBatch,
  given: Partial<ObjectiveTensors> = {},
): ObjectiveTensors {
  const shape = [batch.rows, batch.response_length]
  const constant = (x: number) => new Float64Array(batch.rows * batch.response_length).fill(x)
  const upload = (name: string, data: Numbers) => f32(name, shape, data)
  return {
    response_mask: upload('response_mask', batch.response_mask),
    log_probs: given.log_probs ?? upload('log_probs', batch.log_probs),
    old_log_probs: upload('old_log_probs', batch.old_log_probs),
    advantages: upload('advantages', batch.advantages),
    rollout_is_weights: upload('rollout_is_weights', batch.rollout_is_weights ?? constant(1)),
    ref_log_prob: given.ref_log_prob ?? upload('ref_log_prob', constant(0)),
    entropy: given.entropy ?? upload('entropy', constant(0)),
    modified_mask: output('modified_mask', shape),
    token_weights: output('token_weights', shape),
    loss_weights: output('loss_weights', shape),
    pg_weights: output('pg_weights', shape),
    entropy_weights: output('entropy_weights', shape),
    kld: output('kld', shape),
    d_log_probs: output('d_log_probs', shape),
    d_entropy: output('d_entropy', shape),
  }
}

export interface ObjectiveResult {
  /** POLICY_LOSS_SUMS by name. */
  readonly sums: Readonly<Record<string, number>>
  /** ROLLOUT_CORRECTION_SUMS by name. */
  readonly correction_sums: Readonly<Record<string, number>>
  readonly d_log_probs: Float32Array
  readonly d_entropy: Float32Array
}

/** Records and replays the objective. */
export async function runObjective(
  { gpu, zeros }: Scratch,
  objective: Objective,
  live: Live,
  tensors: ObjectiveTensors,
): Promise<ObjectiveResult> {
  const totals = {
    sums: zeros('sums', [POLICY_LOSS_SUMS.length]),
    correction_sums: zeros('correction_sums', [ROLLOUT_CORRECTION_SUMS.length]),
  }
  const program = await gpu.record('objective', OBJECTIVE_LIVE, (recorder) =>
    recordObjective(recorder, objective, tensors, totals),
  )
  gpu.replay(program, live)
  const [d_log_probs, d_entropy, sums, correctionSums] = await gpu.read(
    tensors.d_log_probs,
    tensors.d_entropy,
    totals.sums,
    totals.correction_sums,
  )
  const named = (names: readonly string[], values: Numbers) =>
    Object.fromEntries(names.map((name, i) => [name, values[i]]))
  return {
    d_log_probs: d_log_probs as Float32Array,
    d_entropy: d_entropy as Float32Array,
    sums: named(POLICY_LOSS_SUMS, sums),
    correction_sums: named(ROLLOUT_CORRECTION_SUMS, correctionSums),
  }
}

/** The metrics that verl's loss reports. The kernels' are shares of the mini-batch that token_count
 * speaks of and add up over its parts; verl's are means over the tokens of the call. */
export function lossMetrics(
  { sums }: ObjectiveResult,
  lossMode: LossMode,
  live: Live,
  batch: LossBatch,
): Record<string, number> {
  const tokens = sum(batch.response_mask)
  const parts = live.token_count > 0 && tokens > 0 ? live.token_count / tokens : 1
  return Object.fromEntries(
    policyLossOf(lossMode).metrics.map((name) => [name, sums[name] * parts]),
  )
}
