// Says how close numbers must be: goldens come from float64 code unless said otherwise.
import type { Output, Tolerance } from './report.ts'

/** Float64 code against float64 goldens; atol is for sums that cancel to 0. */
export const F64 = { rtol: 1e-9, atol: 1e-12 } as const
/** Where verl itself rounds to float32: clip fractions, lengths, DAPO's rewards, gpg's alpha. */
export const ROUNDED = { rtol: 1e-6, atol: 1e-9 } as const
/** grpo's divisor of a group of one is rounded to float32. */
export const GRPO = { rtol: 1e-7, atol: 1e-12 } as const
/** grpo_vectorized: means and deviations of groups are float32. */
export const GRPO_VECTORIZED = { rtol: 1e-4, atol: 2e-5 } as const
/** gdpo: rewards are float32, as are the statistics of groups. */
export const GDPO = { rtol: 2e-6, atol: 2e-6 } as const
/** Means of groups are float32. */
export const MAXRL = { rtol: 2e-6, atol: 2e-6 } as const
/** verl in float32 with an integer mask. */
export const PRODUCTION = { rtol: 2e-5, atol: 2e-6 } as const
/** Kernels: losses, log-probs and metrics. */
export const GPU_VALUE = { rtol: 2e-4, atol: 1e-6 } as const
/** Kernels: gradients, which cancel. */
export const GPU_GRADIENT = { rtol: 2e-4, atol: 1e-5 } as const

/** F64, and ROUNDED for what verl counts in float32. */
export const f64Metrics = (path: string): Tolerance =>
  /clipfrac|fraction|length|ratio$/.test(path) ? ROUNDED : F64

/** Pairs computed values with one tolerance. */
export function within(
  tolerance: Output['tolerance'],
  values: Readonly<Record<string, unknown>>,
): Record<string, { actual: unknown; tolerance: Output['tolerance'] }> {
  return Object.fromEntries(
    Object.entries(values).map(([name, actual]) => [name, { actual, tolerance }]),
  )
}
