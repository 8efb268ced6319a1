// Conversations in the real trainer follow float64: what a tool wrote counts nowhere, in no
// estimator, loss, mean or KL.
import { afterEach, describe, expect, test, vi } from 'vitest'
import type { RlPhase } from '../../config/phase.ts'
import { ADV_ESTIMATORS } from '../../estimators/advantages.ts'
import { BASE, changes, corrected, follow, phaseOf } from './testing.ts'

afterEach(() => {
  vi.restoreAllMocks()
})

/** Warm enough that the policy wanders into calls. */
const rollout: RlPhase['rollout'] = {
  ...BASE.rollout,
  temperature: 2.5,
  max_response_length: 12,
  max_turns: 3,
}

const TALKS: Parameters<typeof phaseOf>[0] = { rollout }

describe('tokens of tools', () => {
  // Where LONG_TESTS is not set: algorithms.gpu.test.ts has all of them, without tools.
  test.for(process.env.LONG_TESTS ? ADV_ESTIMATORS : (['grpo', 'gae'] as const))(
    '%s',
    async (adv_estimator) => {
      const followed = await follow(
        phaseOf({ ...TALKS, adv_estimator }, {}, { gamma: 0.9, lam: 0.8 }),
      )
      expect(Math.max(...changes(followed, 'tool_calls/mean'))).toBeGreaterThan(0.1)
      expect(Math.max(...changes(followed, 'num_turns/max'))).toBeGreaterThan(2)
    },
  )

  test.for(['token-mean', 'seq-mean-token-mean', 'seq-mean-token-sum-norm'] as const)(
    '%s, with KL and entropy, of actor and critic',
    async (loss_agg_mode) => {
      const critic = { ...BASE.critic, loss_agg_mode }
      const actor = { loss_agg_mode, entropy_coeff: 0.05, use_kl_loss: true, kl_loss_coef: 0.5 }
      await follow(phaseOf({ ...TALKS, adv_estimator: 'gae', critic }, actor))
    },
  )

  test('KL in the reward, at every token or at the last', async () => {
    for (const kl_at_last_token of [false, true])
      await follow(phaseOf(TALKS, {}, { use_kl_in_reward: true, kl_at_last_token }))
  })

  test('a penalty for length counts them, as in verl', async () => {
    await follow(phaseOf(TALKS, {}, { overlong_buffer: { len: 4, penalty_factor: 0.5 } }))
  })

  test('shuffled rows, two epochs, micro-batches and even lengths', async () => {
    const actor = { shuffle: true, ppo_epochs: 2, ppo_micro_batch_size_per_gpu: 4 }
    await follow(phaseOf(TALKS, actor, { balance_batch: true }))
  })

  test('weights and rejection of rollout correction', async () => {
    const correction = { rollout_is: 'token', rollout_rs: 'token_k2', rollout_rs_threshold: '0.02' }
    await follow(phaseOf(TALKS, {}, corrected(correction as Parameters<typeof corrected>[0])))
  })
})
