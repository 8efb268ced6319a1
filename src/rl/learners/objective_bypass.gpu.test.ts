// The composed objective in bypass mode against float64: weights and rejections of the policy being
// updated, then the loss.
import { describe, expect, test } from 'vitest'
import { LOSS_AGG_MODES } from '../../kernels/policy_loss/aggregations/aggregations.ts'
import type { Aggregation } from '../../kernels/policy_loss/loss_weights.ts'
import { rolloutCorrectionRef } from '../../kernels/rollout_correction/rollout_correction.ref.ts'
import { ROLLOUT_CORRECTION_SUMS } from '../../kernels/rollout_correction/rollout_correction.ts'
import type { Actor } from '../config/actor.ts'
import type { RolloutCorrection } from '../config/rollout_correction.ts'
import { correctionParams } from '../experience/rollout_correction.ts'
import { RL } from '../testing.ts'
import { objectiveOf } from './objective.ts'
import {
  ACTOR,
  BATCH,
  type Batch,
  COUNTS,
  expectSame,
  HALVES,
  joined,
  objectiveRef,
  R,
  ROWS,
  rowsOf,
  run,
  tokensOf,
  WHOLE,
  withCounts,
} from './testing.ts'

describe('bypass mode', () => {
  const correction = (change: Partial<RolloutCorrection>): RolloutCorrection => ({
    ...RL.algorithm.rollout_correction,
    bypass_mode: true,
    rollout_is: 'token',
    rollout_is_threshold: 1.2,
    rollout_rs: 'token_k1,seq_mean_k3',
    rollout_rs_threshold: '0.7_1.5,0.09',
    ...change,
  })
  const corrections: readonly (readonly [string, Partial<RolloutCorrection>])[] = [
    ['ppo_clip', { loss_type: 'ppo_clip' }],
    ['reinforce', { loss_type: 'reinforce' }],
    [
      'reinforce by sequence, normalised',
      { loss_type: 'reinforce', rollout_is: 'sequence', rollout_is_batch_normalize: true },
    ],
    ['reinforce without rejection', { loss_type: 'reinforce', rollout_rs: null }],
  ]

  describe.for(corrections)('%s', ([, change]) => {
    const config = correction(change)
    const algorithm = { ...RL.algorithm, rollout_correction: config }
    const lossMode = config.loss_type === 'reinforce' ? 'reinforce' : 'vanilla'

    /** verl's order: weights and mask of the policy being updated, then the loss; entropy and KL
     * see all tokens. */
    function bypassRef(actor: Actor, batch: Batch, aggregation: Partial<Aggregation>, scale = 1) {
      const { modified_mask, rollout_is_weights, metrics } = rolloutCorrectionRef(
        correctionParams(config),
        { ...batch, rollout_log_probs: batch.old_log_probs, response_length: R },
      )
      const given = { scale, policy_mask: modified_mask, rollout_is_weights }
      return {
        ...objectiveRef(lossMode, actor, batch, aggregation, given),
        modified_mask,
        metrics,
      }
    }

    test.for(LOSS_AGG_MODES)('%s: the whole mini-batch', async (loss_agg_mode) => {
      const actor: Actor = { ...ACTOR, loss_agg_mode, loss_mode: 'gspo' }
      const objective = objectiveOf({ actor, algorithm })
      expect(objective.loss_mode).toBe(lossMode)
      const seen = await run(objective, actor, WHOLE)
      const expected = bypassRef(actor, BATCH, COUNTS)
      const kept = tokensOf(expected.modified_mask)
      if (config.rollout_rs) expect(kept).toBeLessThan(COUNTS.batch_num_tokens - 2)
      expect(kept).toBeGreaterThan(5)
      expectSame(seen, withCounts(expected, kept))
      for (const name of ROLLOUT_CORRECTION_SUMS)
        expect(seen.correction[name], name).toBeCloseTo(expected.metrics[name], 5)
    })

    test('the legacy rule: each micro-batch is corrected and divided by itself', async () => {
      const actor: Actor = { ...ACTOR, use_legacy_worker_impl: 'enable' }
      const seen = await run(objectiveOf({ actor, algorithm }), actor, HALVES)
      const parts = HALVES.map(([first, count]) =>
        bypassRef(actor, rowsOf(BATCH, first, count), {}, count / ROWS),
      )
      expectSame(seen, joined(parts))
      for (const name of ROLLOUT_CORRECTION_SUMS)
        expect(seen.correction[name], name).toBeCloseTo(
          parts[0].metrics[name] + parts[1].metrics[name],
          5,
        )
    })
  })

  test('everything rejected: no policy gradient, nothing that is not a number', async () => {
    const none = correction({ rollout_rs: 'seq_max_k2', rollout_rs_threshold: 1e-9 })
    const actor: Actor = { ...ACTOR, use_kl_loss: false }
    for (const use_legacy_worker_impl of ['disable', 'enable'] as const) {
      const objective = objectiveOf({
        actor,
        algorithm: { ...RL.algorithm, rollout_correction: none },
      })
      const seen = await run(objective, { ...actor, use_legacy_worker_impl }, WHOLE)
      expect(Array.from(seen.d_log_probs).every((d) => d === 0)).toBe(true)
      expect(seen.sums['actor/pg_loss']).toBe(0)
      expect(seen.sums['actor/entropy']).toBeGreaterThan(0)
      expect(seen.correction['rollout_corr/rollout_rs_masked_fraction']).toBe(1)
    }
  })
})
