import { describe, expect, test } from 'vitest'
import { expectClose } from '../../kernels/testing.ts'
import { ALGORITHM_DEFAULTS, type Algorithm } from '../config/algorithm.ts'
import type { RolloutCorrection } from '../config/rollout_correction.ts'
import { ADV_ESTIMATORS, type AdvEstimator, computeAdvantages } from '../estimators/advantages.ts'
import { opdAdvantages } from '../teachers/opd_advantage.ref.ts'
import { type DriverColumn, driverColumns, makeExperience, type ScoredBatch } from './experience.ts'
import { applyKlPenalty, type KlController, klController } from './kl.ts'

const R = 3
const B = 4
/** Two groups of two; the first row has one token, the others up to three. */
const BATCH = {
  response_length: R,
  response_mask: [1, 0, 0, 1, 1, 1, 1, 1, 0, 1, 1, 1],
  token_level_scores: [1, 0, 0, 0, 0, 0, 0, 0.5, 0, 0, 0, 1],
  index: [0, 0, 1, 1],
  old_log_probs: [-1, 9, 9, -1, -2, -1, -0.5, -1, 9, -2, -1, -1.5],
  ref_log_prob: [-1.5, 8, 8, -1, -1, -1, -1.5, -2, 8, -2, -2, -1],
  values: [0.5, 0, 0, 0.1, 0.2, 0.3, 0.4, 0.2, 0, 0.3, 0.6, 0.9],
  sum_pi_squared: [0.3, 0, 0, 0.4, 0.5, 0.3, 0.2, 0.6, 0, 0.4, 0.3, 0.3],
  rollout_log_probs: [-1, 7, 7, -1.1, -2.2, -1, -0.5, -1, 7, -3, -1, -1.5],
  teacher_log_probs: [-2, 6, 6, -1, -3, -0.5, -0.5, -1.25, 6, -1, -1, -4],
  reward_baselines: [0.5, 0.5, 0, 0],
} satisfies ScoredBatch

const NONE = ALGORITHM_DEFAULTS.rollout_correction
const phaseOf = (
  adv_estimator: AdvEstimator,
  change: Partial<Algorithm> = {},
  correction: Partial<RolloutCorrection> = {},
) => ({
  adv_estimator,
  algorithm: {
    ...ALGORITHM_DEFAULTS,
    ...change,
    rollout_correction: { ...NONE, ...correction },
  },
})
const fixed = (kl_coef = 0.25): KlController =>
  klController({ type: 'fixed', kl_coef, horizon: 1, target_kl: 1 })

/** BATCH with the columns of `names` alone. */
function withColumns(names: readonly DriverColumn[]): ScoredBatch {
  const { response_length, response_mask, token_level_scores, index, reward_baselines } = BATCH
  const columns = Object.fromEntries(names.map((name) => [name, BATCH[name]]))
  return { response_length, response_mask, token_level_scores, index, reward_baselines, ...columns }
}

describe('driverColumns', () => {
  test('nothing for group estimators, values for gae, what the token baseline is made of for that', () => {
    for (const estimator of ADV_ESTIMATORS) {
      const expected: DriverColumn[] = estimator.includes('optimal_token_baseline')
        ? ['old_log_probs', 'sum_pi_squared']
        : estimator === 'gae'
          ? ['values']
          : []
      expect(driverColumns(phaseOf(estimator)), estimator).toEqual(expected)
    }
  })

  test.for<[string, Partial<Algorithm>, Partial<RolloutCorrection>, DriverColumn[]]>([
    ['KL in the reward', { use_kl_in_reward: true }, {}, ['old_log_probs', 'ref_log_prob']],
    ['weights', {}, { rollout_is: 'token' }, ['old_log_probs', 'rollout_log_probs']],
    ['a teacher', { opd_kl_coef: 1 }, {}, ['old_log_probs', 'teacher_log_probs']],
    ['rejection', {}, { rollout_rs: 'token_k1' }, ['old_log_probs', 'rollout_log_probs']],
    ['bypass mode', {}, { bypass_mode: true, rollout_is: 'token' }, ['rollout_log_probs']],
    [
      'all of it',
      { use_kl_in_reward: true },
      { rollout_is: 'sequence' },
      ['old_log_probs', 'ref_log_prob', 'rollout_log_probs'],
    ],
  ])('%s', ([, change, correction, expected]) => {
    expect(driverColumns(phaseOf('grpo', change, correction))).toEqual(expected)
  })

  test('log-probs that are only compared', () => {
    const compared = { ...phaseOf('grpo'), rollout: { calculate_log_probs: true } }
    expect(driverColumns(compared)).toEqual(['old_log_probs', 'rollout_log_probs'])
    const found = makeExperience(compared, BATCH, fixed())
    expect(found.response_mask).toBeUndefined()
    expect(found.rollout_is_weights).toBeUndefined()
    expect(found.advantages).toEqual(makeExperience(phaseOf('grpo'), BATCH, fixed()).advantages)
    expect(found.metrics['rollout_corr/kl']).not.toBe(0)
    const bypass = { ...phaseOf('grpo', {}, { bypass_mode: true }), rollout: compared.rollout }
    expect(driverColumns(bypass)).toEqual(['rollout_log_probs'])
  })

  test('are enough, and each of them is needed', () => {
    const cases = ADV_ESTIMATORS.flatMap((estimator) => [
      phaseOf(estimator),
      phaseOf(estimator, { use_kl_in_reward: true }, { rollout_is: 'token' }),
      phaseOf(estimator, {}, { rollout_rs: 'token_k2', rollout_rs_threshold: 3 }),
    ])
    for (const phase of cases) {
      const names = driverColumns(phase)
      const { advantages } = makeExperience(phase, withColumns(names), fixed())
      expect(advantages.every(Number.isFinite)).toBe(true)
      for (const name of names) {
        const others = withColumns(names.filter((other) => other !== name))
        expect(() => makeExperience(phase, others, fixed())).toThrow(
          new RegExp(`${name}.*(missing|expected)`),
        )
      }
    }
  })

  test('remax needs its baselines', () => {
    const { reward_baselines, ...rest } = BATCH
    expect(reward_baselines).toHaveLength(B)
    expect(() => makeExperience(phaseOf('remax'), rest, fixed())).toThrow(/reward_baselines/)
  })
})

describe('KL in the reward', () => {
  test('comes off the scores of the group, and the controller hears of it', () => {
    const phase = phaseOf('grpo', { use_kl_in_reward: true, kl_penalty: 'k1' })
    const controller = klController({ type: 'adaptive', kl_coef: 0.5, horizon: 10, target_kl: 0.1 })
    const { token_level_rewards, advantages, metrics } = makeExperience(phase, BATCH, controller)
    // Σ(old - ref) of the rows: 0.5; -1; 1 + 1; 0 + 1 - 0.5. Rewards: 1 - 0.25; 0 + 0.5; 0.5 - 1; 1
    // - 0.25.
    const sums = [0, 1, 2, 3].map((b) =>
      token_level_rewards.subarray(b * R, (b + 1) * R).reduce((x, y) => x + y, 0),
    )
    expectClose(sums, [0.75, 0.5, -0.5, 0.75], { atol: 1e-12, rtol: 0 })
    const half = (x: number) => (x / 2) * (1 / (Math.abs(x) / Math.SQRT2 + 1e-6))
    expectClose(
      [0, 3, 6, 9].map((i) => advantages[i]),
      [half(0.25), half(-0.25), half(-1.25), half(1.25)],
      { atol: 1e-9, rtol: 0 },
    )
    // Means of the rows: 0.5, -1/3, 1, 1/6.
    expect(metrics['actor/reward_kl_penalty']).toBeCloseTo((0.5 - 1 / 3 + 1 + 1 / 6) / 4, 7)
    expect(metrics['actor/reward_kl_penalty_coeff']).toBe(0.5)
    expect(controller.value).toBeCloseTo(0.5 * (1 + (0.2 * B) / 10), 12)
  })

  test('without it rewards are the scores and no KL is reported', () => {
    const { token_level_rewards, metrics } = makeExperience(phaseOf('grpo'), BATCH, fixed())
    expect([...token_level_rewards]).toEqual(BATCH.token_level_scores)
    expect(metrics).toEqual({})
  })
})

describe('rollout correction', () => {
  // log π - log π_rollout is 0 but for 0.1, 0.2 in row 1 and 1 in row 3: k1 bounds are on the
  // inverse ratio.
  const rejects = { rollout_rs: 'token_k1', rollout_rs_threshold: '0.5_2' }

  test('takes rejected tokens out of the mask before advantages are computed', () => {
    const phase = phaseOf('gae', { lam: 0.9 }, rejects)
    const found = makeExperience(phase, BATCH, fixed())
    const mask = Float64Array.from(BATCH.response_mask)
    mask[9] = 0
    expect(found.response_mask).toEqual(mask)
    const expected = computeAdvantages(
      'gae',
      { ...BATCH, token_level_rewards: BATCH.token_level_scores, response_mask: mask },
      phase.algorithm,
    )
    expect(found.advantages).toEqual(expected.advantages)
    expect(found.returns).toEqual(expected.returns)
    const without = makeExperience(phaseOf('gae', { lam: 0.9 }), BATCH, fixed())
    expect(found.advantages).not.toEqual(without.advantages)
    expect(found.metrics['rollout_corr/rollout_rs_masked_fraction']).toBeCloseTo(1 / 9, 7)
    expect(found.rollout_is_weights).toBeUndefined()
  })

  test('the KL in the reward is of all tokens, the rejected ones too', () => {
    const phase = phaseOf('grpo', { use_kl_in_reward: true }, rejects)
    const { token_level_rewards, metrics } = makeExperience(phase, BATCH, fixed())
    const kl = applyKlPenalty(BATCH, 'kl', fixed())
    expect(token_level_rewards).toEqual(kl.token_level_rewards)
    expect(metrics['actor/reward_kl_penalty']).toBe(kl.current_kl)
  })

  test('gives weights, of which the token baseline makes use', () => {
    const weighted = { rollout_is: 'token', rollout_is_threshold: 2 } as const
    const found = makeExperience(phaseOf('optimal_token_baseline', {}, weighted), BATCH, fixed())
    const weights = found.rollout_is_weights as Float64Array
    const ratios = BATCH.response_mask.map((m, i) =>
      m ? Math.min(2, Math.exp(BATCH.old_log_probs[i] - BATCH.rollout_log_probs[i])) : 0,
    )
    expectClose(weights, ratios, { atol: 1e-12, rtol: 0 })
    expect(found.response_mask).toBeUndefined()
    const plain = makeExperience(phaseOf('optimal_token_baseline'), BATCH, fixed())
    expect(found.advantages).not.toEqual(plain.advantages)
    expect(found.metrics['rollout_corr/kl']).toBeCloseTo(-1.3 / 9, 7)
  })

  test('in bypass mode is left to the update', () => {
    const phase = phaseOf('grpo', {}, { ...rejects, rollout_is: 'token', bypass_mode: true })
    const found = makeExperience(phase, BATCH, fixed())
    expect(found.response_mask).toBeUndefined()
    expect(found.rollout_is_weights).toBeUndefined()
    expect(found.metrics).toEqual({})
  })

  test.for(ADV_ESTIMATORS)('%s: a batch that is rejected whole trains nothing', (estimator) => {
    // Nothing is within these bounds.
    const all = { rollout_rs: 'token_k1', rollout_rs_threshold: '1.0000001_1.0000002' }
    const found = makeExperience(phaseOf(estimator, {}, all), BATCH, fixed())
    for (const x of [found.advantages, found.returns, found.response_mask as Float64Array])
      expect([...x]).toEqual(new Array(B * R).fill(0))
    expect([...found.token_level_rewards]).toEqual(BATCH.token_level_scores)
    expect(found.metrics['rollout_corr/rollout_rs_masked_fraction']).toBeCloseTo(1, 7)
  })

  test('one token that is left is too little to whiten by, and enough for the others', () => {
    const rollout_log_probs = BATCH.rollout_log_probs.map((x, i) => (i === 3 ? x : x - 5))
    const one = { rollout_rs: 'token_k2', rollout_rs_threshold: 1 }
    const run = (estimator: AdvEstimator) =>
      makeExperience(phaseOf(estimator, {}, one), { ...BATCH, rollout_log_probs }, fixed())
    for (const estimator of ADV_ESTIMATORS) {
      const whitens = /^(gae|gdpo|reinforce_plus_plus)/
      const mask = run(estimator).response_mask as Float64Array
      expect(mask.reduce((a, b) => a + b, 0)).toBe(whitens.test(estimator) ? 0 : 1)
    }
  })
})

describe('a teacher that scores the sampled tokens', () => {
  const rows = (x: ArrayLike<number>) =>
    Array.from({ length: B }, (_, b) => Array.from(x).slice(b * R, (b + 1) * R))
  const batch = {
    student_logps: rows(BATCH.old_log_probs),
    teacher_logps: rows(BATCH.teacher_log_probs),
    mask: rows(BATCH.response_mask),
  }

  test.for([true, false])(
    'task rewards %s: its reverse KL is taken off as slime does',
    (counts) => {
      const change = { opd_kl_coef: 0.7, use_task_rewards: counts }
      const { advantages, metrics } = makeExperience(phaseOf('grpo', change), BATCH, fixed())
      const alone = makeExperience(phaseOf('grpo'), BATCH, fixed()).advantages
      const truth = opdAdvantages(
        { ...batch, advantages: rows(alone.map((a) => (counts ? a : 0))) },
        { kl_coef: 0.7, discount: 0 },
      )
      expectClose(advantages, truth.advantages.flat(), { atol: 1e-12, rtol: 0 })
      expect(metrics['distillation/reverse_kl']).toBeCloseTo(truth.mean_reverse_kl, 12)
      expect(advantages[1]).toBe(0)
    },
  )

  test('without one nothing is asked of it', () => {
    const { metrics } = makeExperience(phaseOf('grpo'), BATCH, fixed())
    expect(metrics['distillation/reverse_kl']).toBeUndefined()
    expect(() =>
      makeExperience(phaseOf('grpo', { opd_kl_coef: 1 }), withColumns(['old_log_probs']), fixed()),
    ).toThrow('teacher_log_probs is needed and missing')
  })
})
