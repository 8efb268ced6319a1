// Says where the values of a healthy run lie: as a band behind the lines of a chart, and in words.
import { CLIPPED } from '../../record/diagnosis/update_rules.ts'
import type { Domain } from './domain.ts'

/** Ends are part of it; an absent one is open. */
export interface Ideal {
  readonly low?: number
  readonly high?: number
  /** Who says so, and what a value outside means. */
  readonly why: string
}

/** The part of the range that an axis shows; undefined where it shows none. */
export function shownIdeal({ low, high }: Ideal, y: Domain): Domain | undefined {
  const from = Math.max(low ?? y[0], y[0])
  const to = Math.min(high ?? y[1], y[1])
  return from < to ? [from, to] : undefined
}

/** The range in words: 'Ideal: below 20 %'. */
export function idealWords({ low, high }: Ideal, format: (value: number) => string): string {
  if (low === undefined && high === undefined) return ''
  if (low === undefined) return `Ideal: below ${format(high as number)}`
  if (high === undefined) return `Ideal: above ${format(low)}`
  return `Ideal: ${format(low)} to ${format(high)}`
}

/** Where a value lies, for people who do not see the band; nothing for none. */
export function placeWords({ low, high }: Ideal, value: number | undefined): string {
  if (value === undefined || !Number.isFinite(value)) return ''
  if (low !== undefined && value < low) return 'the value is below it'
  return high !== undefined && value > high ? 'the value is above it' : 'the value is within it'
}

/** The share from which the finding “Much of the update is clipped” speaks up. */
export const IDEAL_CLIP_FRACTION: Ideal = {
  high: CLIPPED,
  why: 'A rule of thumb: what is clipped has no gradient, so with more of it much of the batch teaches nothing. The findings warn above it too.',
}

/** Spinning Up's PPO stops the updates of a batch near its target_kl, “usually small, 0.01 or
 * 0.05”; an estimate may be below 0. */
export const IDEAL_PPO_KL: Ideal = {
  low: -0.05,
  high: 0.05,
  why: 'OpenAI’s Spinning Up stops the updates of a batch at a KL of 0.01 to 0.05: beyond it, its samples no longer describe the policy.',
}

/** 1 − Var(return − value) / Var(return): Stable-Baselines3 logs it as explained_variance and
 * explains it alike. */
export const IDEAL_EXPLAINED_VARIANCE: Ideal = {
  low: 0,
  high: 1,
  why: 'By definition: 1 is a perfect critic, 0 is one that might as well say the same number everywhere, and below 0 it is worse than that.',
}
