// Computes the weight of every token in the means of an update.
import { defineKernel } from '../device/base/kernel.ts'
import reduce from '../wgsl/workgroup_reduce.wgsl?raw'
import { AGGREGATIONS, aggregationOf, type LossAggMode } from './aggregations/aggregations.ts'
import weights from './loss_weights.wgsl?raw'

/** verl's arguments of agg_loss. A count that is null or missing is the batch's own. */
export interface Aggregation {
  readonly loss_agg_mode: LossAggMode
  /** Response tokens of the whole mini-batch, over all ranks. */
  readonly batch_num_tokens?: number | null
  /** Responses of the whole mini-batch, over all ranks. */
  readonly global_batch_size?: number | null
  /** Data-parallel ranks whose gradients are averaged afterwards. */
  readonly dp_size?: number | null
  /** Divisor of seq-mean-token-sum-norm; missing: the columns R of the response. */
  readonly loss_scale_factor?: number | null
}

/** The params of loss_weights that say what is divided by. verl multiplies by dp_size what it
 * divided by a count; here the count is divided by dp_size. 0 = the kernel takes the batch's own.
 * With several ranks the count that loss_agg_mode divides by must be given: RangeError, as in verl.
 * A page is one rank and lets the kernel count, so only `lab conform` calls it. */
export function aggregationParams({
  loss_agg_mode,
  batch_num_tokens,
  global_batch_size,
  dp_size,
  loss_scale_factor,
}: Aggregation): {
  token_count: number
  sequence_count: number
  loss_scale_factor: number
  ranks: number
} {
  const ranks = dp_size ?? 1
  const own = { batch_num_tokens, global_batch_size }
  for (const [name, count] of Object.entries(own))
    if (typeof count === 'number' && !(count >= 0))
      throw new RangeError(`${name}: expected null or 0 and more, got ${count}`)
  if (typeof loss_scale_factor === 'number' && !(loss_scale_factor > 0))
    throw new RangeError(`loss_scale_factor: expected null or above 0, got ${loss_scale_factor}`)
  if (!(ranks >= 1)) throw new RangeError(`dp_size: expected 1 or more, got ${ranks}`)
  const { dividesBy } = aggregationOf(loss_agg_mode)
  const name = dividesBy === 'tokens' ? 'batch_num_tokens' : 'global_batch_size'
  if (ranks > 1 && dividesBy && typeof own[name] !== 'number')
    throw new RangeError(
      `${name}: expected a number because dp_size is ${ranks} and ${loss_agg_mode} divides by it, got ${own[name]}`,
    )
  return {
    token_count: (batch_num_tokens ?? 0) / ranks,
    sequence_count: (global_batch_size ?? 0) / ranks,
    loss_scale_factor: loss_scale_factor ?? 0,
    ranks,
  }
}

/** weight_of of the shader: one case for each aggregation, in their order. */
const WEIGHT_OF = `fn weight_of(mode: u32, row_tokens: f32, counts: Counts) -> f32 {
  switch mode {
${AGGREGATIONS.map(({ weight_of }, i) => {
  const isLast = i === AGGREGATIONS.length - 1
  return `    ${isLast ? 'default' : `case ${i}u`}: {\n      ${weight_of}\n    }\n`
}).join('')}  }
}
`

/** The weight of every token in the two means of an update: loss_weights for entropy and KL
 * (loss_agg_mode), pg_weights for the policy loss (pg_agg_mode, see pgAggMode; times
 * rollout_is_weights); token_weights = mask / tokens for the metrics.
 *
 * response_mask, rollout_is_weights (1 where there are none) [rows, R] → token_weights,
 * loss_weights, pg_weights [rows, R] (overwritten). The modes are indices in LOSS_AGG_MODES.
 * token_count, sequence_count, loss_scale_factor: see aggregationParams; 0 = Σ mask, rows with a
 * token, R. scale multiplies all three (1/k for the mean of k micro-batches that are each divided
 * by their own counts, verl's legacy worker). ranks: those whose gradients are averaged afterwards.
 * Rows without a token count in no mean; without any token all weights are 0, not NaN.
 * rollout_is_weights are not read where the mask is 0.
 *
 * Source: verl verl/trainer/ppo/core_algos.py agg_loss; its n + 1e-8 per row is n in f32. */
export const loss_weights = defineKernel({
  name: 'loss_weights',
  wgsl: weights + WEIGHT_OF + reduce,
  params: {
    rows: 'u32',
    response_length: 'u32',
    loss_agg_mode: 'u32',
    pg_agg_mode: 'u32',
    token_count: 'f32',
    sequence_count: 'f32',
    loss_scale_factor: 'f32',
    scale: 'f32',
    ranks: 'f32',
  },
  bindings: {
    response_mask: 'read',
    rollout_is_weights: 'read',
    token_weights: 'read_write',
    loss_weights: 'read_write',
    pg_weights: 'read_write',
  },
  workgroups: () => [1],
})
