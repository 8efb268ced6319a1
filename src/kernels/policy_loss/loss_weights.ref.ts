// Computes verl's means over tokens in float64, with verl's own eps: here n + 1e-8 is not n.
import { aggregationOf } from './aggregations/aggregations.ts'
import type { Aggregation } from './loss_weights.ts'

type Numbers = ArrayLike<number>

/** Number of tokens of each row of a mask [rows, R]. */
function rowTokens(mask: Numbers, response_length: number): Float64Array {
  const counts = new Float64Array(mask.length / response_length)
  for (let i = 0; i < mask.length; i++) counts[Math.floor(i / response_length)] += mask[i]
  return counts
}

/** Weights w [rows, R] with agg_loss(L) = Σ w L, 0 where masked (and everywhere if all is).
 * Source: verl verl/trainer/ppo/core_algos.py agg_loss. */
export function aggregationWeights(
  mask: Numbers,
  response_length: number,
  aggregation: Aggregation,
): Float64Array {
  const counts = rowTokens(mask, response_length)
  const ownTokens = counts.reduce((a, b) => a + b, 0)
  const ranks = aggregation.dp_size ?? 1
  const tokens = (aggregation.batch_num_tokens ?? ownTokens) / ranks
  const sequences =
    (aggregation.global_batch_size ?? counts.filter((count) => count > 0).length) / ranks
  const { weight } = aggregationOf(aggregation.loss_agg_mode)
  const loss_scale_factor = aggregation.loss_scale_factor ?? null
  const shared = { tokens, sequences, ranks, response_length, loss_scale_factor }
  const weightOfRow = (row_tokens: number) => weight({ ...shared, row_tokens })
  return Float64Array.from(mask, (m, i) =>
    m === 0 ? 0 : m * weightOfRow(counts[Math.floor(i / response_length)]),
  )
}

/** One of verl's means of lossMat [rows, R] over its unmasked tokens, and its gradient [rows,
 * R]. */
export function aggLossRef(
  lossMat: Numbers,
  mask: Numbers,
  response_length: number,
  aggregation: Aggregation,
): { loss: number; d_loss_mat: Float64Array } {
  const d_loss_mat = aggregationWeights(mask, response_length, aggregation)
  const loss = d_loss_mat.reduce((sum, w, i) => (w === 0 ? sum : sum + w * lossMat[i]), 0)
  return { loss, d_loss_mat }
}
