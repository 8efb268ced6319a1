// Finds the tokens and rows that TRL's options leave out of the policy's loss.
import type { TrlLossBatch, TrlLossConfig } from './trl_objective.ref.ts'

/** torch.quantile of float32 numbers, linear interpolation: rank, weight and result are rounded as
 * torch rounds them. */
export function quantileF32(values: readonly number[], q: number): number {
  const sorted = values.map(Math.fround).sort((a, b) => a - b)
  const rank = Math.fround(Math.fround(q) * (sorted.length - 1))
  const below = sorted[Math.floor(rank)]
  const above = sorted[Math.ceil(rank)]
  const weight = Math.fround(rank - Math.floor(rank))
  const step = Math.fround(above - below)
  return weight < 0.5
    ? Math.fround(below + weight * step)
    : Math.fround(above - step * Math.fround(1 - weight))
}

/** Tokens whose entropy is among the highest `top_entropy_quantile` of the batch; all of them at
 * 1. */
export function isHighEntropy(
  { top_entropy_quantile }: Pick<TrlLossConfig, 'top_entropy_quantile'>,
  { entropies, mask }: Pick<TrlLossBatch, 'entropies' | 'mask'>,
): boolean[] {
  const counted = Array.from(entropies).filter((_, i) => mask[i] !== 0)
  if (!(top_entropy_quantile < 1)) return Array.from(mask, () => true)
  if (counted.length === 0) return Array.from(mask, () => false)
  const threshold = quantileF32(counted, 1 - top_entropy_quantile)
  return Array.from(entropies, (entropy, i) => mask[i] !== 0 && entropy >= threshold)
}

/** Rows that stay: those with an advantage of 0 or above, and those that drifted by no more than
 * the threshold. */
export function isOnPolicyRow(
  { off_policy_mask_threshold: threshold }: Pick<TrlLossConfig, 'off_policy_mask_threshold'>,
  batch: TrlLossBatch,
  tokens: readonly number[],
): (b: number) => boolean {
  const { columns, mask, per_token_logps: own } = batch
  const from = batch.sampling_per_token_logps ?? batch.old_per_token_logps ?? own
  return (b) => {
    if (threshold === undefined || batch.advantages[b] >= 0) return true
    let drift = 0
    for (let i = b * columns; i < (b + 1) * columns; i++) drift += (from[i] - own[i]) * mask[i]
    return drift / Math.max(tokens[b], 1) <= threshold
  }
}
