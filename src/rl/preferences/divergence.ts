// Computes f-DPO's scores of a log ratio, whose margin measures another divergence than reverse KL.
import { logistic, logLogistic } from '../math/logistic.ts'

/** TRL's names (trl dpo_trainer.py, f_divergence_type; arXiv 2309.16240). */
export const F_DIVERGENCES = [
  'reverse_kl',
  'forward_kl',
  'js_divergence',
  'alpha_divergence',
] as const
export type FDivergence = (typeof F_DIVERGENCES)[number]

/** Largest exponent of the alpha divergence, as in TRL's float32. */
const MAX_EXPONENT = 88

/** The score of a log ratio r and its derivative. `a`: f_alpha_divergence_coef. */
export function divergenceScore(
  kind: FDivergence,
  r: number,
  a: number,
): { readonly score: number; readonly slope: number } {
  if (kind === 'forward_kl') {
    const x = Math.exp(-r)
    return { score: 1 - x, slope: x }
  }
  if (kind === 'js_divergence') return { score: Math.LN2 + logLogistic(r), slope: logistic(-r) }
  if (kind === 'alpha_divergence' && a !== 1) {
    const exponent = (a - 1) * r
    const x = Math.exp(Math.min(exponent, MAX_EXPONENT))
    return { score: (x - 1) / (a - 1), slope: exponent > MAX_EXPONENT ? 0 : x }
  }
  return { score: r, slope: 1 }
}
