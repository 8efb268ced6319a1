// Computes the gradients of policy.ref.ts and transformer.ref.ts, written out by hand in float64.

import { vectorName } from '../layout/adapter_layout.ts'
import type { ModelConfig } from '../layout/config.ts'
import { adaptedLinearBackward } from './low_rank.ref.ts'
import {
  add,
  attendBackward,
  gradOf,
  linearBackward,
  type RefArrays,
  rmsNormBackward,
  rotate,
  sigmoid,
} from './operations.ref.ts'
import {
  eachResponseToken,
  headName,
  type RefResponse,
  readsNormed,
  statesOf,
  translatorRef,
} from './policy.ref.ts'
import type { RefCache } from './transformer.ref.ts'
import { translateBackwardRef, translateRef } from './translate.ref.ts'

/** Gradients of Σ d_log_probs · log_probs + d_entropy · entropy (both [B, R]) by parameter name.
 * Parameters that policyRef(layer) does not read are absent: blocks above `layer`, and the final
 * norm where it is not read through. With an adapter on, its factors are the only parameters. */
export function backwardRef(
  config: ModelConfig,
  params: RefArrays,
  cache: RefCache,
  layer: number,
  response: RefResponse & { d_log_probs: ArrayLike<number>; d_entropy: ArrayLike<number> },
): RefArrays {
  const { hidden_size: C } = config
  const { response_ids, temperature, d_log_probs, d_entropy } = response
  const grads: RefArrays = {}
  const baseGrads = cache.adapter ? {} : grads
  const states = statesOf(config, params, cache, layer, response)
  const d_states = new Float64Array(states.length)
  eachResponseToken(config, params, cache, layer, response, (i, m, logP, h) => {
    // d log p[id] / d z = onehot(id) − p;  d H / d z = −p · (log p + H);  z = logits / temperature
    const d_logits = logP.map((lp, v) => {
      const dLogProb = (v === response_ids[i] ? 1 : 0) - Math.exp(lp)
      return (d_log_probs[i] * dLogProb - d_entropy[i] * Math.exp(lp) * (lp + h)) / temperature
    })
    d_states.set(
      linearBackward(
        params,
        baseGrads,
        headName(config),
        states.subarray(m * C, (m + 1) * C),
        C,
        d_logits,
      ),
      m * C,
    )
  })
  backwardStatesRef(config, params, cache, layer, d_states, grads, response.readout)
  return grads
}

/** Backward from d_states [M, C], the gradient of what the policy of `layer` reads, down to the
 * embedding; adds to `grads`. */
export function backwardStatesRef(
  config: ModelConfig,
  params: RefArrays,
  cache: RefCache,
  layer: number,
  d_states: Float64Array,
  grads: RefArrays,
  readout: RefResponse['readout'] = 'raw',
): void {
  const { rms_norm_eps } = config
  const hidden = cache.hidden_states[layer]
  const baseGrads = cache.adapter ? {} : grads
  const translator = translatorRef(config, layer, readout)
  let d_hidden = d_states
  if (readsNormed(config, layer, readout))
    d_hidden = rmsNormBackward(
      params,
      baseGrads,
      'model.norm.weight',
      rms_norm_eps,
      translator ? translateRef(hidden, translator) : hidden,
      d_states,
    )
  if (translator) d_hidden = translateBackwardRef(hidden, translator, d_hidden).d_states
  backwardBlocksRef(config, params, cache, layer, d_hidden, grads)
}

interface BlocksBackward {
  /** Called with the gradient of the residual stream after each number of blocks, from `layer` to
   * 0. */
  readonly onHidden?: (layer: number, d_hidden: Float64Array) => void
  /** Leaves out what a token's gradient gets through the keys and values that later tokens read. */
  readonly staysInPlace?: boolean
}

/** Backward from d_hidden [M, C], the gradient of the residual stream after `layer` blocks; adds to
 * `grads`. */
export function backwardBlocksRef(
  config: ModelConfig,
  params: RefArrays,
  cache: RefCache,
  layer: number,
  dTop: Float64Array,
  grads: RefArrays,
  { onHidden, staysInPlace = false }: BlocksBackward = {},
): void {
  const { hidden_size: C } = config
  const { batch } = cache
  const baseGrads = cache.adapter ? {} : grads
  let d_hidden = dTop
  addVectorRef(cache, layer, d_hidden, grads)
  onHidden?.(layer, d_hidden)
  for (let l = layer - 1; l >= 0; l--) {
    d_hidden = blockBackward(config, params, grads, cache, l, d_hidden, staysInPlace)
    addVectorRef(cache, l, d_hidden, grads)
    onHidden?.(l, d_hidden)
  }
  const dEmbedding = gradOf(params, baseGrads, 'model.embed_tokens.weight')
  for (let m = 0; m < batch.rows * batch.width; m++)
    if (batch.attention_mask[m] && batch.input_ids[m] !== config.padding_idx)
      for (let c = 0; c < C; c++) dEmbedding[batch.input_ids[m] * C + c] += d_hidden[m * C + c]
}

/** Adds to the gradient of a layer's vector, where one was on: the sum of d_hidden over tokens. */
function addVectorRef(
  { adapter }: RefCache,
  layer: number,
  d_hidden: Float64Array,
  grads: RefArrays,
): void {
  const name = vectorName(layer)
  if (!adapter?.factors[name]) return
  const sum = gradOf(adapter.factors, grads, name)
  d_hidden.forEach((d, i) => {
    sum[i % sum.length] += d
  })
}

/** Gradient of hidden[l] from that of hidden[l+1]; the last line of blockForward first. */
function blockBackward(
  config: ModelConfig,
  params: RefArrays,
  grads: RefArrays,
  { batch, inv_freq, hidden_states, blocks, adapter }: RefCache,
  l: number,
  d_out: Float64Array,
  staysInPlace: boolean,
): Float64Array {
  const { rms_norm_eps: eps } = config
  const block = blocks[l]
  const at = `model.layers.${l}.`
  const tokens = batch.rows * batch.width
  const unproject = (name: string, input: Float64Array, d_y: Float64Array) =>
    adaptedLinearBackward(params, adapter, grads, `${at}${name}`, input, input.length / tokens, d_y)
  const baseGrads = adapter ? {} : grads
  const unnorm = (name: string, input: Float64Array, d_y: Float64Array) =>
    rmsNormBackward(params, baseGrads, `${at}${name}.weight`, eps, input, d_y)

  const d_activated = unproject('mlp.down_proj', block.activated, d_out)
  const dUp = d_activated.map((d, i) => d * block.gate[i] * sigmoid(block.gate[i]))
  // silu'(g) = σ(g) · (1 + g · (1 − σ(g)))
  const dGate = d_activated.map((d, i) => {
    const s = sigmoid(block.gate[i])
    return d * block.up[i] * s * (1 + block.gate[i] * (1 - s))
  })
  const dFfnIn = add(
    unproject('mlp.gate_proj', block.ffn_in, dGate),
    unproject('mlp.up_proj', block.ffn_in, dUp),
  )
  const dMiddle = add(d_out, unnorm('post_attention_layernorm', block.middle, dFfnIn))

  const d_context = unproject('self_attn.o_proj', block.context, dMiddle)
  const { d_q_rotated, d_k_rotated, d_v } = attendBackward(
    config,
    batch,
    block,
    d_context,
    staysInPlace,
  )
  const headUnnorm = (name: string, input: Float64Array, d_y: Float64Array) =>
    config.model_type === 'qwen3' ? unnorm(`self_attn.${name}`, input, d_y) : d_y
  const dQ = headUnnorm('q_norm', block.q, rotate(d_q_rotated, batch, inv_freq, -1))
  const dK = headUnnorm('k_norm', block.k, rotate(d_k_rotated, batch, inv_freq, -1))
  const dAttnIn = add(
    unproject('self_attn.q_proj', block.attn_in, dQ),
    unproject('self_attn.k_proj', block.attn_in, dK),
    unproject('self_attn.v_proj', block.attn_in, d_v),
  )
  return add(dMiddle, unnorm('input_layernorm', hidden_states[l], dAttnIn))
}
