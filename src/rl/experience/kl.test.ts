import { expect, test } from 'vitest'
import { expectClose } from '../../kernels/testing.ts'
import { applyKlPenalty, klController } from './kl.ts'

const ADAPTIVE = { type: 'adaptive', kl_coef: 0.2, target_kl: 6, horizon: 10000 } as const
const EXACT = { rtol: 1e-12, atol: 1e-15 }

test('a fixed coefficient stays', () => {
  const controller = klController({ ...ADAPTIVE, type: 'fixed' })
  controller.update(100, 1000)
  expect(controller.value).toBe(0.2)
})

test('an adaptive coefficient follows the KL, by a fifth per horizon at most', () => {
  const controller = klController(ADAPTIVE)
  controller.update(6.6, 100)
  // error 0.1 over 100 of 10000 steps
  expectClose([controller.value], [0.2 * 1.001], EXACT)
  controller.update(1000, 10000)
  expectClose([controller.value], [0.2 * 1.001 * 1.2], EXACT)
  controller.update(-1, 5000)
  expectClose([controller.value], [0.2 * 1.001 * 1.2 * 0.9], EXACT)
})

test('a controller without a horizon, a target or a known type is refused', () => {
  expect(() => klController({ ...ADAPTIVE, horizon: 0 })).toThrow(/horizon: expected above 0/)
  expect(() => klController({ ...ADAPTIVE, target_kl: 0 })).toThrow(/target_kl: expected above 0/)
  expect(() => klController({ ...ADAPTIVE, type: 'linear' as 'fixed' })).toThrow(/found linear/)
})

/** Two responses: log ratios 1 and 2, then 4 and a masked one; and one response without tokens. */
const ROWS = {
  token_level_scores: [0, 10, 20, 0, 3, 0],
  old_log_probs: [-1, -1, -1, Number.NaN, -1, -1],
  ref_log_prob: [-2, -3, -5, -9, 0, 0],
  response_mask: [1, 1, 1, 0, 0, 0],
  response_length: 2,
}

test('the reward of a token pays for its KL; the mean is over responses, empty ones too', () => {
  const controller = klController({ ...ADAPTIVE, kl_coef: 0.5, target_kl: 1, horizon: 30 })
  const { token_level_rewards, current_kl, coeff } = applyKlPenalty(ROWS, 'kl', controller)
  expect([...token_level_rewards]).toEqual([-0.5, 9, 18, 0, 3, 0])
  // (1.5 + 4 + 0)/3, up to 1e-8 in the means
  expectClose([current_kl], [5.5 / 3], { rtol: 1e-7 })
  expect(coeff).toBe(0.5)
  // the error is held at 0.2; three responses of a horizon of 30
  expectClose([controller.value], [0.5 * 1.02], EXACT)
})

test('other estimates enter by their value', () => {
  const fixed = klController({ ...ADAPTIVE, type: 'fixed', kl_coef: 1 })
  const { token_level_rewards } = applyKlPenalty(ROWS, 'mse', fixed)
  expectClose(token_level_rewards, [-0.5, 8, 12, 0, 3, 0], EXACT)
  const k3 = applyKlPenalty(ROWS, 'low_var_kl', fixed).token_level_rewards
  expectClose([k3[0]], [-Math.exp(-1)], { rtol: 1e-12 })
})

test('a length that does not fit is named', () => {
  const rows = { ...ROWS, ref_log_prob: [0] }
  expect(() => applyKlPenalty(rows, 'kl', klController(ADAPTIVE))).toThrow(
    'ref_log_prob: expected 6 numbers, found 1',
  )
})

test('at the last token: the whole response’s KL, the same coefficient and the same metric', () => {
  const fixed = klController({ ...ADAPTIVE, type: 'fixed' })
  const each = applyKlPenalty(ROWS, 'kl', fixed)
  const last = applyKlPenalty(ROWS, 'kl', fixed, true)
  expect([last.current_kl, last.coeff]).toEqual([each.current_kl, each.coeff])
  const { response_mask: mask, response_length: R, token_level_scores: scores } = ROWS
  const rows = Array.from({ length: mask.length / R }, (_, b) =>
    Array.from({ length: R }, (_, t) => b * R + t),
  )
  for (const row of rows) {
    const sum = (x: ArrayLike<number>) => row.reduce((total, i) => total + x[i], 0)
    expect(sum(last.token_level_rewards)).toBeCloseTo(sum(each.token_level_rewards), 12)
    const end = row.findLast((i) => mask[i] !== 0)
    for (const i of row) if (i !== end) expect(last.token_level_rewards[i]).toBe(scores[i])
  }
  expect(last.token_level_rewards).not.toEqual(each.token_level_rewards)
})
