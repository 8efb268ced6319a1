// Computes the covariance of log-prob and advantage: what clip_cov and kl_cov choose tokens by,
// over a whole micro-batch.
import type { LossBatch, LossNumber } from './policy_loss.ts'

/** Indices of the tokens that count. */
export const unmasked = (responseMask: ArrayLike<number>): number[] =>
  Array.from(responseMask, (m, i) => (m === 0 ? -1 : i)).filter((i) => i >= 0)

/** (A - mean A)(log_prob - mean log_prob) of the tokens in `valid`; means over `valid.length +
 * eps`. */
export function covariances(
  { advantages, log_probs }: LossBatch,
  valid: readonly number[],
  eps: number,
): Float64Array {
  const mean = (x: ArrayLike<number>) =>
    valid.reduce((sum, i) => sum + x[i], 0) / (valid.length + eps)
  const [meanAdvantage, meanLogProb] = [mean(advantages), mean(log_probs)]
  const cov = new Float64Array(log_probs.length)
  for (const i of valid) cov[i] = (advantages[i] - meanAdvantage) * (log_probs[i] - meanLogProb)
  return cov
}

/** The first `count` of `tokens` by descending key; ties keep their order. */
export const largest = (
  tokens: readonly number[],
  key: (i: number) => number,
  count: number,
): ReadonlySet<number> => new Set([...tokens].sort((a, b) => key(b) - key(a)).slice(0, count))

/** max(1, share · tokenCount rounded down), 0 without tokens. Doubles, as in Python, so the
 * product rounds alike. Throws a RangeError unless the share is above 0. */
export function selectCount(name: string, share: number, tokenCount: number): number {
  if (!(share > 0)) throw new RangeError(`${name}: expected a number above 0, got ${share}`)
  return tokenCount === 0 ? 0 : Math.max(1, Math.trunc(share * tokenCount))
}

/** The share of tokens that is chosen. */
export const covRatio = (help: string) =>
  ({
    section: 'policy_loss',
    label: 'Share of tokens',
    help,
    default: 0.0002,
    min: 0.000001,
    max: 1,
    scale: 'log',
    unit: 'share',
    isShare: true,
  }) as const satisfies LossNumber
