// Computes a loss of the response tokens under the policy of some states, read in any way.
import {
  type RefReading,
  readingBackwardRef,
  readPolicyRef,
} from '../../src/model/interventions/readings.ref.ts'
import type { RefArrays } from '../../src/model/transformer/operations.ref.ts'
import { policyLossRef } from '../../src/rl/losses/policy_loss.ref.ts'
import type { InterventionCase } from './intervention_case.ts'

/** From log-probs of the response tokens, [B, R]. */
export type TokenLoss = (log_probs: Float64Array) => {
  readonly loss: number
  readonly d_log_probs: Float64Array
}

/** verl's PPO loss with the settings of the case. */
export function goldenPpo(
  { settings, batch }: InterventionCase,
  old_log_probs: Float64Array,
  advantages: Float64Array,
): TokenLoss {
  const ppo = settings.fields('ppo')
  const config = {
    clip_ratio_low: ppo.number('clip_ratio_low'),
    clip_ratio_high: ppo.number('clip_ratio_high'),
    clip_ratio_c: ppo.number('clip_ratio_c'),
    loss_agg_mode: ppo.choice('loss_agg_mode', ['token-mean']),
  }
  const { response_mask, response_length } = batch
  return (log_probs) =>
    policyLossRef('vanilla', config, {
      log_probs,
      old_log_probs,
      advantages,
      response_mask,
      response_length,
    })
}

/** The loss of states [M, C] read that way, the gradient of the states, and the log-probs; adds to
 * `grads`. */
export function readingLoss(
  { model: { config }, params, rows, batch }: InterventionCase,
  states: Float64Array,
  reading: RefReading,
  loss: TokenLoss,
  grads: RefArrays,
): { value: number; d_states: Float64Array; log_probs: Float64Array } {
  const V = config.vocab_size
  const { response_length: R, response_mask, response_ids } = batch
  const logP = readPolicyRef(config, params, states, reading)
  // Response token t of a row is predicted one column before it.
  const tokenAt = (i: number) => Math.floor(i / R) * rows.width + rows.width - R - 1 + (i % R)
  const log_probs = Float64Array.from(response_mask, (mask, i) =>
    mask ? logP[tokenAt(i) * V + response_ids[i]] : 0,
  )
  const { loss: value, d_log_probs } = loss(log_probs)
  const d_logits = new Float64Array(logP.length)
  for (const [i, d] of d_log_probs.entries()) {
    if (!response_mask[i]) continue
    const m = tokenAt(i)
    for (let v = 0; v < V; v++)
      d_logits[m * V + v] = d * ((v === response_ids[i] ? 1 : 0) - Math.exp(logP[m * V + v]))
  }
  const { d_states } = readingBackwardRef(config, params, grads, states, reading, d_logits)
  return { value, d_states, log_probs }
}
