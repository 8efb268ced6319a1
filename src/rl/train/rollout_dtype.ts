// Decides in which type the rollouts of a run keep keys and values, where halves were asked for.
import type { CacheDType } from '../../kernels/attention/attention_cache.ts'
import type { Rollout } from '../../model/rollout/rollout.ts'

/** What became of `rollout.dtype: float16`. */
export interface RolloutDType {
  /** What ran. */
  readonly dtype: CacheDType
  /** Largest difference of attention from halves, relative to its largest value; absent where it
   * was no number. */
  readonly difference?: number | undefined
  /** Why it is not float16. */
  readonly reason?: string | undefined
}

type Settled = Pick<Rollout, 'size' | 'dtype' | 'fallback_reason' | 'half_difference'>

/** The worst result of several rollouts; undefined where none asked for halves. */
export function rolloutDType(rollouts: Iterable<Settled>): RolloutDType | undefined {
  const asked = [...rollouts].filter(({ size }) => size.dtype === 'float16')
  const worst = ({ dtype, half_difference = 0 }: Settled) =>
    dtype === 'float16' ? half_difference : Number.POSITIVE_INFINITY
  const [first] = asked.sort((a, b) => worst(b) - worst(a) || 0)
  if (!first) return undefined
  const { dtype, half_difference: difference, fallback_reason: reason } = first
  return {
    dtype,
    ...(difference !== undefined && Number.isFinite(difference) && { difference }),
    ...(reason !== undefined && { reason }),
  }
}
