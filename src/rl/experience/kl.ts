// Computes the KL penalty in the reward and its coefficient (verl/trainer/ppo/core_algos.py,
// ray_trainer.py apply_kl_penalty).
import { type KlPenalty, klPenalty } from '../../kernels/kl/kl_penalty.ts'
import type { KlControllerConfig } from '../config/algorithm.ts'
import { maskedMeanRows, maskedSumRows, rowCount } from '../math/masked.ts'

/** β and how it follows the KL that it causes. */
export interface KlController {
  readonly value: number
  /** `current_kl` in nats per token; `nSteps`: responses seen since the last update. */
  update(current_kl: number, nSteps: number): void
}

/** fixed: β = kl_coef always. adaptive (Ziegler et al. 2019, arXiv 1909.08593 section 2.2): e =
 * clip(kl/target_kl - 1, ±0.2), β ← β·(1 + e·nSteps/horizon). Throws RangeError if an adaptive
 * controller's target_kl or horizon is not above 0, or the type is unknown. verl forgets an adapted
 * β in its checkpoints; to keep it, start again with kl_coef = value. */
export function klController({
  type,
  kl_coef,
  target_kl,
  horizon,
}: KlControllerConfig): KlController {
  if (type === 'fixed') return { value: kl_coef, update() {} }
  if (type !== 'adaptive')
    throw new RangeError(`kl_ctrl.type: expected fixed or adaptive, found ${type}`)
  if (!(horizon > 0)) throw new RangeError(`kl_ctrl.horizon: expected above 0, found ${horizon}`)
  if (!(target_kl > 0))
    throw new RangeError(`kl_ctrl.target_kl: expected above 0, found ${target_kl}`)
  let value = kl_coef
  return {
    get value() {
      return value
    },
    update(current_kl, nSteps) {
      const error = Math.min(Math.max(current_kl / target_kl - 1, -0.2), 0.2)
      value *= 1 + (error * nSteps) / horizon
    },
  }
}

/** Rows [B, R] with R = response_length; log-probs in nats, of the policy that wrote the responses
 * and of the reference. */
export interface KlPenaltyInput {
  readonly token_level_scores: ArrayLike<number>
  readonly old_log_probs: ArrayLike<number>
  readonly ref_log_prob: ArrayLike<number>
  readonly response_mask: ArrayLike<number>
  readonly response_length: number
}

/** token_level_rewards = token_level_scores - β·kl·m with kl = klPenalty(old, ref); current_kl =
 * the mean over responses of the mean over their tokens (an empty response counts 0), nats per
 * token. `coeff` is the β that was applied; afterwards the controller is updated with nSteps = B.
 * With `atLastToken` the sum of a response's kl is taken off the reward of its last token
 * instead, which verl has no option for. Throws RangeError where a length differs from that of
 * response_mask. */
export function applyKlPenalty(
  input: KlPenaltyInput,
  penalty: KlPenalty,
  controller: KlController,
  atLastToken = false,
): { token_level_rewards: Float64Array; current_kl: number; coeff: number } {
  const { token_level_scores, old_log_probs, ref_log_prob, response_mask, response_length } = input
  const rows = rowCount(response_mask, response_length)
  for (const [name, values] of Object.entries({ token_level_scores, old_log_probs, ref_log_prob }))
    if (values.length !== response_mask.length)
      throw new RangeError(
        `${name}: expected ${response_mask.length} numbers, found ${values.length}`,
      )
  const coeff = controller.value
  const kl = Float64Array.from(response_mask, (mask, i) =>
    mask !== 0 ? klPenalty(penalty, old_log_probs[i], ref_log_prob[i]).value : 0,
  )
  const means = maskedMeanRows(kl, response_mask, response_length)
  const current_kl = means.reduce((sum, mean) => sum + mean, 0) / rows
  controller.update(current_kl, rows)
  const taken = atLastToken ? summedAtLast(kl, response_mask, response_length) : kl
  return {
    token_level_rewards: taken.map((k, i) => token_level_scores[i] - coeff * k),
    current_kl,
    coeff,
  }
}

/** The sum of every row of [B, R] at its last token, and 0 elsewhere. */
function summedAtLast(kl: Float64Array, mask: ArrayLike<number>, R: number): Float64Array {
  const sums = new Float64Array(kl.length)
  maskedSumRows(kl, mask, R).forEach((sum, row) => {
    let last = (row + 1) * R - 1
    while (last >= row * R && mask[last] === 0) last--
    if (last >= row * R) sums[last] = sum
  })
  return sums
}

/** The controller after a change of its settings, by hand or where another phase begins: another
 * type or a new coefficient starts again (undefined); with anything else it continues from the
 * present value. */
export function adoptedKl(
  controller: KlController,
  before: KlControllerConfig,
  after: KlControllerConfig,
): KlController | undefined {
  if (before.type !== after.type || before.kl_coef !== after.kl_coef) return undefined
  return klController({ ...after, kl_coef: controller.value })
}
