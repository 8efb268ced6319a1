// The composed objective against float64: policy loss - entropy_coeff · entropy + kl_loss_coef ·
// KL, whole and in parts.
import { describe, expect, test } from 'vitest'
import { LOSS_AGG_MODES } from '../../kernels/policy_loss/aggregations/aggregations.ts'
import { POLICY_LOSS_SUMS } from '../../kernels/policy_loss/policy_loss_frame.ts'
import { expectClose } from '../../kernels/testing.ts'
import type { Actor } from '../config/actor.ts'
import { LOSS_MODES, type LossMode, POLICY_LOSSES } from '../losses/losses.ts'
import { RL } from '../testing.ts'
import { type Objective, objectiveLive, objectiveOf } from './objective.ts'
import {
  ACTOR,
  BATCH,
  COUNTS,
  expectSame,
  HALVES,
  joined,
  objectiveRef,
  ROWS,
  response_mask,
  rowsOf,
  run,
  tokensOf,
  WHOLE,
  withCounts,
} from './testing.ts'

/** Losses that compare a token with means over its call: there the parts of a batch are not the
 * batch. */
const OF_THE_WHOLE_BATCH = POLICY_LOSSES.filter(({ choice }) => choice).map(({ name }) => name)

const objectiveFor = (actor: Actor, loss_mode: LossMode): Objective =>
  loss_mode === 'reinforce'
    ? { ...objectiveOf({ actor, algorithm: RL.algorithm }), loss_mode }
    : objectiveOf({ actor: { ...actor, loss_mode }, algorithm: RL.algorithm })

/** Else the first two means over tokens of those that the whole mini-batch is tested with. */
const LONG = Boolean(process.env.LONG_TESTS)

describe.for(LOSS_MODES)('%s', (loss_mode) => {
  test.for(LOSS_AGG_MODES)('%s: the whole mini-batch equals float64', async (loss_agg_mode) => {
    const actor = { ...ACTOR, loss_agg_mode }
    const expected = objectiveRef(loss_mode, actor, BATCH, COUNTS)
    const seen = await run(objectiveFor(actor, loss_mode), actor, WHOLE)
    expectSame(seen, expected)
    expect(Math.max(...Array.from(seen.d_log_probs, Math.abs))).toBeGreaterThan(1e-3)
    expect(Array.from(seen.d_log_probs).every((d, i) => response_mask[i] !== 0 || d === 0)).toBe(
      true,
    )
  })

  test.for(LONG ? LOSS_AGG_MODES : LOSS_AGG_MODES.slice(0, 2))(
    '%s: two micro-batches by the rule of the engine worker',
    async (loss_agg_mode) => {
      const actor = { ...ACTOR, loss_agg_mode }
      const objective = objectiveFor(actor, loss_mode)
      const halves = await run(objective, actor, HALVES)
      if (OF_THE_WHOLE_BATCH.includes(loss_mode)) {
        const parts = HALVES.map(([first, count]) => {
          const batch = rowsOf(BATCH, first, count)
          const part = objectiveRef(loss_mode, actor, batch, COUNTS)
          return withCounts(part, tokensOf(batch.response_mask))
        })
        expectSame(halves, joined(parts))
        return
      }
      const whole = await run(objective, actor, WHOLE)
      expectClose(halves.d_log_probs, whole.d_log_probs, { atol: 1e-7, rtol: 2e-6 })
      expectClose(halves.d_entropy, whole.d_entropy, { atol: 1e-9, rtol: 2e-6 })
      for (const name of POLICY_LOSS_SUMS)
        expect(halves.sums[name], name).toBeCloseTo(whole.sums[name], 5)
    },
  )

  test.for(LONG ? LOSS_AGG_MODES : LOSS_AGG_MODES.slice(0, 2))(
    '%s: two micro-batches by the rule of the legacy worker are a mean of means',
    async (loss_agg_mode) => {
      // It never hears of loss_scale_factor.
      const legacy: Partial<Actor> = { use_legacy_worker_impl: 'enable', loss_scale_factor: 3 }
      const actor = { ...ACTOR, loss_agg_mode, ...legacy }
      const seen = await run(objectiveFor(actor, loss_mode), actor, HALVES)
      const parts = HALVES.map(([first, count]) =>
        objectiveRef(loss_mode, actor, rowsOf(BATCH, first, count), {}, { scale: count / ROWS }),
      )
      expectSame(seen, joined(parts))
    },
  )
})

test('seq-mean-token-sum-norm divides by loss_scale_factor, or by the columns that a response may fill', async () => {
  const actor: Actor = { ...ACTOR, loss_agg_mode: 'seq-mean-token-sum-norm' }
  const counts = { miniRows: 8, miniTokens: 23, microRows: 8, microTokens: 23 }
  const factor = (change: Partial<Actor>, max_response_length?: number) =>
    objectiveLive(
      { ...actor, ...change },
      'vanilla',
      { ...counts, ...(max_response_length !== undefined && { max_response_length }) },
      0,
    ).loss_scale_factor
  expect(factor({})).toBe(0)
  expect(factor({}, 3)).toBe(3)
  expect(factor({ loss_scale_factor: 7 }, 3)).toBe(7)
  expect(factor({ loss_scale_factor: 7, use_legacy_worker_impl: 'enable' }, 3)).toBe(3)
  const seen = await run(objectiveFor(actor, 'vanilla'), { ...actor, loss_scale_factor: 7 }, WHOLE)
  expectSame(seen, objectiveRef('vanilla', actor, BATCH, { ...COUNTS, loss_scale_factor: 7 }))
})

test('an objective without KL does not look at the reference, one without entropy gives no gradient to it', async () => {
  const actor: Actor = { ...ACTOR, use_kl_loss: false, entropy_coeff: 0 }
  const seen = await run(objectiveFor(actor, 'vanilla'), actor, WHOLE)
  const expected = objectiveRef('vanilla', { ...actor, kl_loss_coef: 0 }, BATCH, COUNTS)
  expectSame(seen, { ...expected, sums: { ...expected.sums, 'actor/kl_loss': 0 } })
  expect(Array.from(seen.d_entropy).every((d) => d === 0)).toBe(true)
})
