// Computes whole distributions of the policies of transformer.ref.ts, and what a gradient by all of
// their log-probs makes of the weights. Float64.
import type { ModelConfig } from '../layout/config.ts'
import { backwardStatesRef } from './backward.ref.ts'
import { linearBackward, type RefArrays } from './operations.ref.ts'
import { eachResponseToken, headName, type RefResponse, statesOf } from './policy.ref.ts'
import type { RefCache } from './transformer.ref.ts'

/** log-probs [B, R, V] under the policy read after `layer` blocks; 0 where response_mask is. */
export function distributionsRef(
  config: ModelConfig,
  params: RefArrays,
  cache: RefCache,
  layer: number,
  response: RefResponse,
): Float64Array {
  const V = config.vocab_size
  const all = new Float64Array(response.response_mask.length * V)
  eachResponseToken(config, params, cache, layer, response, (i, _, logP) => all.set(logP, i * V))
  return all
}

/** Adds the gradients of Σ d_log_probs · log_probs, [B, R, V] each, to `grads`. */
export function backwardDistributionsRef(
  config: ModelConfig,
  params: RefArrays,
  cache: RefCache,
  layer: number,
  response: RefResponse & { d_log_probs: Float64Array },
  grads: RefArrays,
): void {
  const { hidden_size: C, vocab_size: V } = config
  const { temperature, d_log_probs } = response
  const baseGrads = cache.adapter ? {} : grads
  const states = statesOf(config, params, cache, layer, response)
  const d_states = new Float64Array(states.length)
  eachResponseToken(config, params, cache, layer, response, (i, m, logP) => {
    const d = d_log_probs.subarray(i * V, (i + 1) * V)
    const total = d.reduce((sum, g) => sum + g, 0)
    const d_logits = logP.map((lp, v) => (d[v] - Math.exp(lp) * total) / temperature)
    const state = states.subarray(m * C, (m + 1) * C)
    const dState = linearBackward(params, baseGrads, headName(config), state, C, d_logits)
    for (let c = 0; c < C; c++) d_states[m * C + c] += dState[c]
  })
  backwardStatesRef(config, params, cache, layer, d_states, grads, response.readout)
}
