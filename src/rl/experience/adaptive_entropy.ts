// Adapts the entropy coefficient to a target: TRL's use_adaptive_entropy (Skywork-OR1, arXiv
// 2505.22312).
import type { Actor } from '../config/actor.ts'

export type AdaptiveEntropy = Pick<
  Actor,
  'entropy_target' | 'entropy_coef_delta' | 'entropy_coef_min' | 'entropy_coef_max'
>

/** Between two updates. */
export interface EntropyState {
  readonly entropy_coef: number
  /** Of the last update; Infinity before the first. */
  readonly entropy: number
}

/** Before the first update. */
export const firstEntropy = (entropy_coef: number): EntropyState => ({
  entropy_coef,
  entropy: Number.POSITIVE_INFINITY,
})

/** What an update multiplies its entropy with: nothing while the last entropy was above the
 * target. */
export const appliedCoefficient = (
  { entropy_coef, entropy }: EntropyState,
  { entropy_target }: AdaptiveEntropy,
): number => (entropy <= entropy_target ? entropy_coef : 0)

/** The state after an update whose tokens had this mean entropy. */
export function adaptedEntropy(
  { entropy_coef }: EntropyState,
  entropy: number,
  { entropy_target, entropy_coef_delta, entropy_coef_min, entropy_coef_max }: AdaptiveEntropy,
): EntropyState {
  const next =
    entropy <= entropy_target
      ? Math.min(entropy_coef + entropy_coef_delta, entropy_coef_max)
      : Math.max(entropy_coef - entropy_coef_delta, entropy_coef_min)
  return { entropy_coef: next, entropy }
}
