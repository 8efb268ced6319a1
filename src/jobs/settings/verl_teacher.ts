// Says where a teacher that teaches by the KL of sampled tokens does not mean the same in verl.
// Source: verl v0.9.0, verl/trainer/distillation/losses.py.
import { hasBonus } from '../../rl/config/actor.ts'
import type { JobFacts } from './setting.ts'

/** What a job with a teacher is refused for, as what would do; undefined = it means the same there.
 * Source: distillation_ppo_loss. */
export function teacherExpected(coef: number, { settings }: JobFacts): string | undefined {
  if (coef === 0) return undefined
  const { actor, algorithm, rollout } = settings
  const alone = !algorithm.use_task_rewards
  const found = (
    [
      [actor.loss_mode !== 'vanilla', 'actor.loss_mode vanilla, the only loss of a teacher there'],
      [rollout.temperature !== 1, 'rollout.temperature 1, at which its teacher answers'],
      [
        algorithm.rollout_correction.bypass_mode,
        'no bypass_mode, because its teacher has no part in the loss of that mode',
      ],
      [
        alone && (actor.use_kl_loss || hasBonus(actor)),
        'no KL loss and no entropy bonus, which it drops with the rewards (use_task_rewards)',
      ],
    ] as const
  ).find(([holds]) => holds)
  if (found) return `0, or ${found[1]}`
  return alone && coef !== 1 ? '1, which is what a teacher without rewards counts there' : undefined
}
