// Says in words what became of `rollout.dtype: float16`, and reads it back.
import * as z from 'zod/mini'
import type { RolloutDType } from '../../rl/train/rollout_dtype.ts'

export type { RolloutDType } from '../../rl/train/rollout_dtype.ts'

export const rolloutDTypeSchema: z.ZodMiniType<RolloutDType> = z.object({
  dtype: z.enum(['float32', 'float16']),
  difference: z.optional(z.number()),
  reason: z.optional(z.string().check(z.maxLength(4000))),
})

/** One sentence with what ran and what was measured. */
export function rolloutDTypeText({ dtype, difference, reason }: RolloutDType): string {
  if (dtype === 'float32')
    return `rollout.dtype: float16 was asked for, and rollouts ran on float32: ${reason ?? 'float16 did not pass its check'}.`
  const measured =
    difference === undefined
      ? ''
      : `; attention from it differs by ${Number(difference.toPrecision(2))} of its largest value on this adapter`
  return `Rollouts ran on a float16 cache${measured}.`
}
