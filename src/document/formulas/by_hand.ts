// Computes the lab's own rules on numbers that a person types in: what lessons let people try by
// hand.
import { gaeAdvantages } from '../../rl/estimators/gae.ts'
import { grpoAdvantages } from '../../rl/estimators/grpo.ts'
import { numbersOf, policyLossOf } from '../../rl/losses/losses.ts'

/** Advantages of the responses to one prompt by GRPO; `byStd` divides by the spread, as GRPO does
 * and Dr. GRPO does not. */
export const groupAdvantages = (scores: readonly number[], byStd = true): readonly number[] => [
  ...grpoAdvantages(Float64Array.from(scores), new Uint32Array(scores.length), {
    norm_adv_by_std_in_grpo: byStd,
  }),
]

/** Advantages and returns of the tokens of one response by GAE, before they are whitened over a
 * batch. */
export function gaeByHand(
  rewards: readonly number[],
  values: readonly number[],
  gamma: number,
  lam: number,
): { readonly advantages: readonly number[]; readonly returns: readonly number[] } {
  const { advantages_before_whiten, returns } = gaeAdvantages(
    {
      token_level_rewards: Float64Array.from(rewards),
      response_mask: Float64Array.from(rewards, () => 1),
      response_length: rewards.length,
      index: new Uint32Array(1),
      values: Float64Array.from(values),
    },
    { gamma, lam },
  )
  return { advantages: [...advantages_before_whiten], returns: [...(returns ?? [])] }
}

/** PPO's clipped loss of one token, and whether its gradient is cut off. */
export function clippedLoss(
  ratio: number,
  advantage: number,
  clip: { readonly clip_ratio_low: number; readonly clip_ratio_high: number },
): { readonly loss: number; readonly is_clipped: boolean } {
  const { rule, numbers } = policyLossOf('vanilla')
  const row = {
    log_probs: [Math.log(ratio)],
    old_log_probs: [0],
    advantages: [advantage],
    response_mask: [1],
  }
  const { loss, clipped } = rule(row, { ...numbersOf({ numbers }, {}), ...clip })(0)
  return { loss, is_clipped: clipped !== 0 }
}

/** The mean of that loss over responses of one token each; 0 where no more than the rounding of its
 * terms is left. */
export function groupLoss(
  ratios: readonly number[],
  advantages: readonly number[],
  clip: Parameters<typeof clippedLoss>[2],
): number {
  const losses = ratios.map((ratio, i) => clippedLoss(ratio, advantages[i], clip).loss)
  const sum = losses.reduce((total, loss) => total + loss, 0)
  const size = losses.reduce((total, loss) => total + Math.abs(loss), 0)
  return Math.abs(sum) <= Number.EPSILON * size ? 0 : sum / losses.length
}

/** Softmax of logits, and its entropy in nats. */
export function softmaxEntropy(logits: readonly number[]): {
  readonly probabilities: readonly number[]
  readonly entropy: number
} {
  const largest = Math.max(...logits)
  const powers = logits.map((logit) => Math.exp(logit - largest))
  const sum = powers.reduce((total, power) => total + power, 0)
  const probabilities = powers.map((power) => power / sum)
  const entropy = probabilities.reduce((h, p) => (p > 0 ? h - p * Math.log(p) : h), 0)
  return { probabilities, entropy }
}
