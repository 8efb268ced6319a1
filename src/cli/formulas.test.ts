// The formulas that the page fills in, against the estimators and losses that a step really runs.
import { expect, test } from 'vitest'
import { filled, fillFormula, formulaNumber, symbolic } from '../document/formulas/formula_text.ts'
import { tokenFormulas } from '../document/formulas/formulas.ts'
import { klFormula } from '../document/formulas/kl_formulas.ts'
import { KL_PENALTIES, klPenalty } from '../kernels/kl/kl_penalty.ts'
import { randomValues } from '../kernels/testing.ts'
import { ALGORITHM_DEFAULTS, type Algorithm } from '../rl/config/algorithm.ts'
import type { RlPhase } from '../rl/config/phase.ts'
import { ADV_ESTIMATORS, type AdvEstimator } from '../rl/estimators/advantages.ts'
import { makeExperience } from '../rl/experience/experience.ts'
import { klController } from '../rl/experience/kl.ts'
import { type TokenTable, tokenTable } from '../rl/look/token_table.ts'
import {
  LOSS_MODES,
  type LossMode,
  numbersOf,
  POLICY_LOSSES,
  policyLossOf,
} from '../rl/losses/losses.ts'
import { policyLossRef } from '../rl/losses/policy_loss.ref.ts'
import type { ResponseTokens } from '../rl/losses/response.ts'
import { RL } from '../rl/testing.ts'
import { evaluated } from './calculator/testing.ts'

const K = {
  clip_ratio_low: 0.2,
  clip_ratio_high: 0.28,
  clip_ratio_c: 1.5,
  tau_pos: 1,
  tau_neg: 1.05,
  policy_loss: { ppo_kl_coef: 0.1 },
}
const TOKENS = 24

/** Responses whose ratios lie on all sides of the range, with advantages of both signs or one. */
function response(seed: number, sign: number, hasWeights = false): ResponseTokens {
  const old_log_probs = Array.from(randomValues(TOKENS, seed), (x) => -1.5 + x)
  const steps = Array.from(randomValues(TOKENS, seed + 1))
  const advantages = Array.from(randomValues(TOKENS, seed + 2), (x) =>
    sign === 0 ? x : sign * (0.1 + Math.abs(x)),
  )
  return {
    old_log_probs,
    log_probs: old_log_probs.map((p, t) => p + steps[t]),
    advantages,
    response_mask: advantages.map((_, t) => (t % 7 === 3 ? 0 : 1)),
    ...(hasWeights && {
      rollout_is_weights: Array.from(randomValues(TOKENS, seed + 3), (x) => Math.abs(x) + 0.1),
    }),
  }
}
const counted = ({ response_mask }: ResponseTokens) =>
  Array.from(response_mask).flatMap((mask, t) => (mask === 0 ? [] : [t]))

/** The lines of a token, and what the rule makes of it. */
function filledIn(lossMode: LossMode, row: ResponseTokens, t: number) {
  const loss = policyLossOf(lossMode)
  const k = numbersOf(loss, K)
  const token = loss.rule(row, k)(t)
  return { token, lines: fillFormula(loss.formula, { row, t, k, loss: token.loss }) }
}

/** The last line that gives the loss. */
const lossLine = (lossMode: LossMode, row: ResponseTokens, t: number) => {
  const last = filledIn(lossMode, row, t).lines.at(-1)
  if (!last) throw new Error(`${lossMode} has no line`)
  return last
}

/** What the clip of a loss does to tokens on all sides of its range. */
const CLIPS: Readonly<Partial<Record<LossMode, readonly (number | undefined)[]>>> = {
  vanilla: [0, 1, 2],
  cispo: [0, 1],
  gspo: [0, 1],
  geo_mean: [0, 1, 2],
  clip_cov: [0, 1],
  dppo_tv: [0, 1, 2],
  dppo_kl: [0, 1, 2],
  sapo: [undefined],
  kl_cov: [undefined],
}

test.for(POLICY_LOSSES)(
  '$name: the mean of the filled-in losses is the reference’s loss, and so are the clips',
  ({ name: lossMode, choice }) => {
    const codes = new Set<number | undefined>()
    for (const sign of [-1, 0, 1])
      for (const shift of [-0.3, 0, 0.3]) {
        const { old_log_probs, ...row } = response(11 + sign, sign)
        const moved = { ...row, old_log_probs: Array.from(old_log_probs, (p) => p + shift) }
        const tokens = counted(moved)
        const { loss, metrics } = policyLossRef(
          lossMode,
          {
            ...K,
            loss_agg_mode: 'token-mean',
            // Nothing lies between: nothing is chosen.
            policy_loss: { clip_cov_lb: 1e6, clip_cov_ub: 2e6, ppo_kl_coef: 0 },
          },
          { ...moved, rollout_is_weights: null, response_length: TOKENS },
        )
        const lines = tokens.map((t) => lossLine(lossMode, moved, t).value)
        expect(lines.reduce((a, b) => a + b, 0) / tokens.length).toBeCloseTo(loss, 6)
        const found = tokens.map((t) => filledIn(lossMode, moved, t).token.clipped)
        for (const code of found) codes.add(code)
        const share = (code: number) => found.filter((c) => c === code).length / tokens.length
        if (choice) continue
        expect(share(1)).toBeCloseTo(metrics['actor/pg_clipfrac'] ?? 0, 6)
        expect(share(2)).toBeCloseTo(metrics['actor/pg_clipfrac_lower'] ?? 0, 6)
      }
    if (CLIPS[lossMode]) expect(codes).toEqual(new Set(CLIPS[lossMode]))
  },
)

test('geo_mean takes the weights of rollout correction into its exponent', () => {
  const row = response(3, 0, true)
  const { loss } = policyLossRef(
    'geo_mean',
    { ...K, loss_agg_mode: 'token-mean' },
    { ...row, rollout_is_weights: row.rollout_is_weights ?? null, response_length: TOKENS },
  )
  const line = lossLine('geo_mean', row, 0)
  expect(line.value).toBeCloseTo(loss, 7)
  expect(line.symbols).toContain('mean log w')
})

test.for(KL_PENALTIES)('KL by %s: what the line says gives the estimate', (kind) => {
  for (const [log_prob, ref_log_prob] of [
    [-1.25, -1],
    [-0.5, -2],
    [-1, -1],
  ]) {
    const kl = klPenalty(kind, log_prob, ref_log_prob).value
    const formula = klFormula(kind, 'log_prob')
    const lines = fillFormula(formula, { log_prob, ref_log_prob, kl, policy: 'log_prob' })
    expect(lines.at(-1)?.value).toBe(kl)
    expect(evaluated(lines.at(-1)?.numbers ?? '')).toBeCloseTo(kl, 4)
  }
})

test('every line of every loss is right on a calculator', () => {
  for (const lossMode of LOSS_MODES)
    for (const sign of [-1, 1]) {
      const row = response(21, sign)
      for (const t of [0, 5, 11])
        for (const { numbers, value } of filledIn(lossMode, row, t).lines)
          expect(Math.abs(evaluated(numbers) - value), `${lossMode}: ${numbers}`).toBeLessThan(2e-4)
    }
})

test('negative numbers get brackets after a sign or factor', () => {
  expect(filled('exp({a} − {b})', { a: -1.21, b: -1.25 })).toBe('exp(−1.21 − (−1.25))')
  expect(filled('max(−{a}, {a} · {b})', { a: -2, b: 0.5 })).toBe('max(−(−2), −2 · 0.5)')
  expect(() => filled('{a}', {})).toThrow(/a has no value/)
  expect(symbolic('exp({log_prob} − {old_log_prob})')).toBe('exp(log π − log π_old)')
  expect([0, 1.041234567, -1e-9, 2e7].map(formulaNumber)).toEqual(['0', '1.0412', '−1e-9', '2e7'])
})

/** Two prompts of three responses each, the last of one token; equal numbers and a masked token
 * too. */
const R = 4
const LENGTHS = [4, 2, 3, 4, 4, 1]
const MASK = LENGTHS.flatMap((n) => Array.from({ length: R }, (_, t) => (t < n ? 1 : 0)))
const SCORES = [1, 0, 0.5, 0, 1, 0]

function tableFor(adv_estimator: AdvEstimator, change: Partial<Algorithm> = {}): TokenTable {
  const values = (seed: number) => Float32Array.from(randomValues(6 * R, seed))
  const phase: RlPhase = {
    ...RL,
    adv_estimator,
    algorithm: { ...ALGORITHM_DEFAULTS, gamma: 0.9, lam: 0.8, ...change },
    actor: { ...RL.actor, use_kl_loss: true, entropy_coeff: 0.01 },
  }
  const token_level_scores = Float64Array.from(MASK, (_, i) => {
    const [row, t] = [Math.floor(i / R), i % R]
    return t === LENGTHS[row] - 1 ? SCORES[row] : 0
  })
  const read = {
    old_log_probs: values(1),
    log_probs: values(2),
    log_probs_after: values(3),
    ref_log_prob: values(4),
    values: values(5).map((x, i) => x * MASK[i]),
    entropy: values(6).map(Math.abs),
  }
  const index = [0, 0, 0, 1, 1, 1]
  const reward_baselines = [0.25, 0.25, 0.25, 0.75, 0.75, 0.75]
  const response_mask = Float32Array.from(MASK)
  const experience = makeExperience(
    phase,
    {
      response_length: R,
      response_mask,
      token_level_scores,
      index,
      reward_baselines,
      ...read,
      sum_pi_squared: values(7).map(Math.abs),
    },
    klController(phase.algorithm.kl_ctrl),
  )
  const batch = {
    rows: 6,
    prompt_length: 1,
    response_length: R,
    response_mask,
    input_ids: new Uint32Array(6 * (R + 1)),
    attention_mask: new Uint32Array(6 * (R + 1)),
    position_ids: new Uint32Array(6 * (R + 1)),
    response_ids: new Uint32Array(6 * R),
    response_lengths: Uint32Array.from(LENGTHS),
    is_ended: LENGTHS.map(() => true),
  }
  const order = [0, 1, 2, 3, 4, 5]
  const samples = order.map(() => ({ prompt: '', ground_truth: '', demonstration: '' }))
  const drawn = { batch, samples, texts: order.map(() => ''), scores: SCORES, token_level_scores }
  return tokenTable({
    phase,
    drawn: { ...drawn, index, order, reward_baselines, columns: new Map(), problems: [] },
    experience,
    trained: batch,
    rows: { batch: 6, mini: 6, micro: 6 },
    updates: 1,
    read,
    tokens: ['a'],
  })
}

/** Every token's lines, and the advantage that the step really trained on. */
function checkAdvantages(table: TokenTable, digits: number): void {
  for (const sample of table.samples)
    sample.tokens.forEach((_, t) => {
      const parts = tokenFormulas({ table, sample, t })
      const advantage = parts.find(({ part }) => part === 'advantage')?.lines.at(-1)
      expect(advantage?.value).toBeCloseTo(sample.columns.advantages?.[t] ?? Number.NaN, digits)
      expect(parts.at(-1)?.part).toBe('loss')
    })
}

test.for(ADV_ESTIMATORS)('%s: the filled-in advantage is what was trained on', (estimator) => {
  // The vectorized variant rounds to float32, as verl's does.
  const digits = estimator.startsWith('grpo_vectorized') ? 6 : 9
  checkAdvantages(tableFor(estimator), digits)
  checkAdvantages(tableFor(estimator, { norm_adv_by_std_in_grpo: false }), digits)
  checkAdvantages(tableFor(estimator, { norm_adv_epsilon: 0.01 }), digits)
  checkAdvantages(tableFor(estimator, { use_kl_in_reward: true }), digits)
})

test('reward, KL and total loss are in the lines where the phase has them', () => {
  const kl_ctrl = { ...ALGORITHM_DEFAULTS.kl_ctrl, kl_coef: 0.5 }
  const table = tableFor('gae', { use_kl_in_reward: true, kl_penalty: 'low_var_kl', kl_ctrl })
  const [sample] = table.samples
  const parts = tokenFormulas({ table, sample, t: 1 })
  expect(parts.map(({ part }) => part)).toEqual(['reward', 'advantage', 'loss'])
  const [reward, , loss] = parts
  const at = (name: keyof typeof sample.columns) => sample.columns[name]?.[1] ?? Number.NaN
  expect(reward.lines.map(({ result }) => result)).toEqual(['q', 'kl', 'reward'])
  expect(evaluated(reward.lines[2].numbers)).toBeCloseTo(at('token_level_rewards'), 4)
  const total = loss.lines.at(-1)
  const own = loss.lines.findLast(({ result }) => result === 'loss' || result === 'plain_loss')
  const { kl_loss_coef } = table.phase.actor
  expect(total?.value).toBeCloseTo(
    (own?.value ?? Number.NaN) - 0.01 * at('entropy') + kl_loss_coef * at('kld'),
    12,
  )
})
