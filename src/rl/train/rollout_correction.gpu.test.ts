// Rollout correction in the trainer, decoupled and in bypass mode.
import { describe, expect, test } from 'vitest'
import { expectClose } from '../../kernels/testing.ts'
import { RL } from '../testing.ts'
import { corrected, ONE_UPDATE, only, open, PPO, rl, rlSteps, warmStart } from './testing.ts'
import { Trainer } from './trainer.ts'

const { WARM, warm } = await warmStart()

describe('rollout correction', () => {
  test('decoupled: weights are near 1 and nothing is rejected, because both log-probs agree', async () => {
    const correction = corrected({
      rollout_is: 'token',
      rollout_rs: 'seq_mean_k1',
      rollout_rs_threshold: '0.99_1.01',
    })
    const { results, weights } = await warm(only(rl({}, correction, ONE_UPDATE)))
    const plain = await warm(only(rl({}, {}, ONE_UPDATE)))
    for (const { metrics } of rlSteps(results)) {
      expect(metrics['rollout_corr/rollout_is_mean']).toBeCloseTo(1, 4)
      expect(metrics['rollout_corr/rollout_is_max']).toBeCloseTo(1, 3)
      expect(metrics['rollout_corr/rollout_rs_masked_fraction']).toBe(0)
      expect(metrics['rollout_corr/kl']).toBeCloseTo(0, 5)
      expect(metrics['rollout_corr/training_ppl']).toBeGreaterThan(1)
    }
    expect(plain.weights.length).toBe(weights.length)
    const moved = Math.hypot(...plain.weights.map((w, i) => w - weights[i]))
    expect(moved).toBeLessThan(0.05)
  })

  test.for(['ppo_clip', 'reinforce'] as const)('bypass with %s', async (loss_type) => {
    const correction = corrected({
      bypass_mode: true,
      loss_type,
      rollout_is: 'sequence',
      rollout_rs: 'token_k1',
      rollout_rs_threshold: 2,
    })
    const { results } = await warm(only(rl({}, correction, ONE_UPDATE)))
    for (const { metrics } of rlSteps(results)) {
      // Of the policy being updated, which has not moved yet.
      expect(metrics['rollout_corr/kl']).toBeCloseTo(0, 5)
      expect(metrics['rollout_corr/rollout_rs_masked_fraction']).toBe(0)
      // ppo_clip reports the weights and does not apply them.
      expect(metrics['rollout_corr/rollout_is_mean']).toBeCloseTo(1, 4)
      expect('actor/pg_clipfrac' in metrics).toBe(loss_type === 'ppo_clip')
      expect(metrics['actor/ppo_kl']).toBeCloseTo(0, 5)
      expect(metrics['actor/grad_norm']).toBeGreaterThan(0)
    }
  })

  test('bypass mode still computes what the token baseline needs of the old policy', async () => {
    const baseline = { adv_estimator: 'optimal_token_baseline', steps: 1 } as const
    const bypass = rl(baseline, corrected({ bypass_mode: true }))
    const [a, b] = [await warm(only(rl(baseline))), await warm(only(bypass))]
    const advantages = [a, b].map(({ results }) => results[1].samples.map((s) => s.advantage))
    expect(Math.max(...advantages[0].map(Math.abs))).toBeGreaterThan(0.1)
    expectClose(advantages[1], advantages[0], { atol: 1e-4, rtol: 1e-3 })
  })

  test('weights of one phase do not reach the next', async () => {
    // All weights are cut to a half.
    const half = rl({}, corrected({ rollout_is: 'token', rollout_is_threshold: 0.5 }), ONE_UPDATE)
    const { results } = await warm(only(half, rl({ name: 'plain' }, {}, ONE_UPDATE)))
    for (const { phase, metrics, samples } of rlSteps(results)) {
      const tokens = samples.reduce((sum, s) => sum + s.response_length, 0)
      const sum = samples.reduce((total, s) => total + s.advantage * s.response_length, 0)
      expect(Math.abs(sum / tokens)).toBeGreaterThan(1e-3)
      expect(metrics['actor/pg_loss']).toBeCloseTo((-sum / tokens) * (phase === 0 ? 0.5 : 1), 5)
    }
  })

  test.for([
    ['grpo', RL],
    ['gae', PPO],
  ] as const)(
    '%s: a batch that is rejected whole moves nothing, and the run continues',
    async ([, phase]) => {
      // π_rollout / π would have to be above 1.5.
      const all = corrected({ rollout_rs: 'seq_mean_k1', rollout_rs_threshold: '1.5_2' })
      const rejecting = { ...phase, steps: 2, algorithm: { ...phase.algorithm, ...all } }
      const trainer = await Trainer.create(await open(), only(rejecting, { ...phase, steps: 1 }))
      trainer.importWeights(WARM)
      await trainer.next()
      for (let step = 0; step < 2; step++) {
        const { metrics, samples } = await trainer.next()
        expect(metrics['rollout_corr/rollout_rs_masked_fraction']).toBeCloseTo(1, 6)
        expect('actor/pg_loss' in metrics || 'critic/vf_loss' in metrics).toBe(false)
        expect(metrics['training/skipped_updates']).toBe(0)
        expect(Object.values(metrics).every(Number.isFinite)).toBe(true)
        expect(samples.every((s) => s.advantage === 0)).toBe(true)
      }
      expect(await trainer.exportWeights()).toEqual(WARM)
      const { metrics } = await trainer.next()
      expect(metrics['actor/grad_norm']).toBeGreaterThan(0)
      trainer.destroy()
    },
  )
})
