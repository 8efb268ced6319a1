// Computes the critic's loss, its gradient and its metrics in float64.
import { aggLossRef } from '../policy_loss/loss_weights.ref.ts'
import type { Aggregation } from '../policy_loss/loss_weights.ts'

type Numbers = ArrayLike<number>

export interface ValueLossBatch {
  /** Predictions of the critic, of the critic before the update, and what they should be; all
   * [rows, response_length]. */
  readonly vpreds: Numbers
  readonly values: Numbers
  readonly returns: Numbers
  readonly response_mask: Numbers
  readonly response_length: number
}

/** verl's compute_value_loss in f64, with verl's eps in the masked means of the metrics (named as
 * in VALUE_LOSS_SUMS). Masked tokens are not looked at. */
export function valueLossRef(
  config: Aggregation & { readonly cliprange_value: number },
  batch: ValueLossBatch,
): { loss: number; d_vpreds: Float64Array; metrics: Record<string, number> } {
  const { vpreds, values, returns, response_mask, response_length } = batch
  const squares = new Float64Array(vpreds.length)
  const slopes = new Float64Array(vpreds.length)
  let [clippedCount, vpredSum, count] = [0, 0, 0]
  for (let i = 0; i < vpreds.length; i++) {
    if (response_mask[i] === 0) continue
    const [v, R, range] = [vpreds[i], returns[i], config.cliprange_value]
    const c = Math.min(values[i] + range, Math.max(values[i] - range, v))
    const [square, clippedSquare] = [(v - R) ** 2, (c - R) ** 2]
    squares[i] = Math.max(square, clippedSquare)
    // torch halves the gradient of max at a tie, and clamp lets it pass inside the range only.
    const share = square > clippedSquare ? 1 : square < clippedSquare ? 0 : c === v ? 1 : 0.5
    slopes[i] = share === 0 ? 0 : share * 2 * (v - R)
    if (clippedSquare > square) clippedCount++
    vpredSum += v
    count++
  }
  const { loss, d_loss_mat } = aggLossRef(squares, response_mask, response_length, config)
  return {
    loss: 0.5 * loss,
    d_vpreds: slopes.map((slope, i) => 0.5 * slope * d_loss_mat[i]),
    metrics: {
      'critic/vf_loss': 0.5 * loss,
      'critic/vf_clipfrac': clippedCount / (count + 1e-8),
      'critic/vpred_mean': vpredSum / (count + 1e-8),
    },
  }
}
