// Declares PPO's clip of a ratio: its numbers, its two sides, and how they are written.
import { line } from '../math/formula.ts'
import type { LossNumbers, ValuesOf } from './policy_loss.ts'
import { clamp } from './response.ts'

/** The range that a ratio is clipped to, [1 - low, 1 + high]. */
export const CLIP_RANGE = {
  clip_ratio_low: {
    section: 'actor',
    label: 'Lower clip',
    help: 'How far below 1 the probability ratio may fall before it stops being rewarded.',
    default: 0.2,
    min: 0.001,
    max: 0.99,
    step: 0.01,
  },
  clip_ratio_high: {
    section: 'actor',
    label: 'Upper clip',
    help: 'How far above 1 the probability ratio may rise before it stops being rewarded.',
    default: 0.2,
    min: 0.001,
    max: 10,
    step: 0.01,
  },
} as const satisfies LossNumbers
export type ClipRange = ValuesOf<typeof CLIP_RANGE>

/** The bound of dual clip. */
export const DUAL_CLIP = {
  clip_ratio_c: {
    section: 'actor',
    label: 'Dual clip',
    help: 'Bounds the loss of a bad response whose probability has grown, as a multiple of its advantage; TRL’s delta, where that is above 1 plus the clip upwards.',
    default: 3,
    min: 1.001,
    max: 100,
    step: 0.5,
  },
} as const satisfies LossNumbers

/** PPO's two sides of a token, before its maximum. */
export function surrogates(ratio: number, A: number, k: ClipRange) {
  const clipped_ratio = clamp(ratio, 1 - k.clip_ratio_low, 1 + k.clip_ratio_high)
  return { plain: -A * ratio, held: -A * clipped_ratio, clipped_ratio }
}

/** The line that gives the ratio of a token. */
export const RATIO = line('ratio', 'exp({log_prob} − {old_log_prob})')

/** The maximum of the two sides of a ratio, as a template. */
export const clipOf = (ratio: string): string =>
  `max(−{advantage} · {${ratio}}, −{advantage} · clip({${ratio}}, 1 − {clip_ratio_low}, 1 + {clip_ratio_high}))`
