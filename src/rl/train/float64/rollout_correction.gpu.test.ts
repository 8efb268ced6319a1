// Every way of rollout correction in the real trainer follows float64.
import { afterEach, describe, expect, test, vi } from 'vitest'
import { RS_CRITERIA } from '../../../kernels/rollout_correction/rollout_correction.ts'
import { BASE, changes, corrected, follow, phaseOf } from './testing.ts'

afterEach(() => {
  vi.restoreAllMocks()
})

describe('rollout correction, decoupled', () => {
  test.for([
    ['token', false],
    ['token', true],
    ['sequence', false],
    ['sequence', true],
  ] as const)(
    'weights per %s, normalised: %s',
    async ([rollout_is, rollout_is_batch_normalize]) => {
      const weights = { rollout_is, rollout_is_threshold: 1.2, rollout_is_batch_normalize }
      const followed = await follow(phaseOf({}, {}, corrected(weights)), 0.4)
      expect(changes(followed, 'rollout_corr/rollout_is_max')[0]).toBeGreaterThan(1.2)
      expect(changes(followed, 'rollout_corr/rollout_is_min')[0]).toBeLessThan(0.9)
    },
  )
  test('nothing but numbers', async () => {
    const rollout = { ...BASE.rollout, calculate_log_probs: true }
    const [told, plain] = [await follow(phaseOf({ rollout }), 0.4), await follow(phaseOf())]
    expect(changes(told, 'rollout_corr/chi2_token')[0]).toBeGreaterThan(0.01)
    expect(changes(told, 'training/rollout_probs_diff_max')[0]).toBeGreaterThan(0.05)
    expect(changes(told, 'actor/grad_norm')).toEqual(changes(plain, 'actor/grad_norm'))
  })
  test.for(process.env.LONG_TESTS ? RS_CRITERIA : RS_CRITERIA.slice(0, 3))(
    'rejection by %s',
    async (rollout_rs) => {
      const rollout_rs_threshold = rollout_rs.endsWith('k1') ? '0.9_1.2' : '0.02'
      const followed = await follow(
        phaseOf({}, {}, corrected({ rollout_rs, rollout_rs_threshold })),
        0.4,
      )
      for (const share of changes(followed, 'rollout_corr/rollout_rs_masked_fraction')) {
        expect(share).toBeGreaterThan(0.05)
        expect(share).toBeLessThan(0.95)
      }
    },
  )
  test('weights and two criteria at once, with values and a KL in the reward', async () => {
    const both = corrected({
      rollout_is: 'sequence',
      rollout_rs: 'token_k1,seq_max_k2',
      rollout_rs_threshold: '0.8_1.3,0.06',
    })
    const algorithm = { ...both, use_kl_in_reward: true }
    const gae = { adv_estimator: 'gae', steps: 2 } as const
    await follow(phaseOf(gae, { ppo_epochs: 2 }, algorithm), 0.4)
  })
  test.for(['optimal_token_baseline', 'tir_optimal_token_baseline'] as const)(
    'weights in the baseline of %s',
    async (adv_estimator) => {
      await follow(phaseOf({ adv_estimator }, {}, corrected({ rollout_is: 'token' })), 0.4)
    },
  )
})

describe('rollout correction, bypass', () => {
  const two = { ppo_epochs: 2 }
  const all = [
    ['ppo_clip', null, null],
    ['ppo_clip', null, 'token_k1'],
    ['ppo_clip', 'token', null],
    ['ppo_clip', 'sequence', 'token_k1'],
    ['reinforce', null, null],
    ['reinforce', 'token', null],
    ['reinforce', 'sequence', 'seq_mean_k1'],
    ['reinforce', 'token', 'token_k1,seq_max_k3'],
  ] as const
  test.for(process.env.LONG_TESTS ? all : [all[3], all[7]])(
    '%s, weights %s, rejection %s',
    async ([loss_type, rollout_is, rollout_rs]) => {
      const followed = await follow(
        phaseOf(
          {},
          two,
          corrected({
            bypass_mode: true,
            loss_type,
            rollout_is,
            rollout_is_threshold: 1.05,
            rollout_is_batch_normalize: rollout_rs !== null && rollout_is !== null,
            rollout_rs,
            rollout_rs_threshold: rollout_rs?.includes(',')
              ? '0.95_1.05,0.001'
              : rollout_rs && '0.95_1.05',
          }),
        ),
      )
      const rejected = changes(followed, 'rollout_corr/rollout_rs_masked_fraction')
      if (rollout_rs) expect(Math.max(...rejected)).toBeGreaterThan(0)
      if (rollout_is) {
        const weights = changes(followed, 'rollout_corr/rollout_is_mean')
        expect(Math.max(...weights.map((w) => Math.abs(w - 1)))).toBeGreaterThan(1e-3)
      }
    },
  )
  test('with a critic, a KL in the loss and an entropy bonus', async () => {
    const actor = { ...two, use_kl_loss: true, kl_loss_coef: 0.3, entropy_coeff: 0.05 }
    await follow(phaseOf({ adv_estimator: 'gae' }, actor, corrected({ bypass_mode: true })))
  })
})
