// The transformer in float64 and plain loops: the truth that model/transformer/transformer.ts is held to. Written to be read, not to
// be fast. B rows, T columns, M = B·T tokens; C hidden, F intermediate, H query heads, K key/value heads, D head size.
// Columns with attention_mask 0 embed to zero, are never attended to and get no gradient.
import { inverseFrequencies, type ModelConfig } from '../params/config.ts'
import type { RefArrays, RefBatch } from './operations.ref.ts'
import {
  add,
  attend,
  attendBackward,
  gradOf,
  linear,
  linearBackward,
  logSoftmax,
  rmsNorm,
  rmsNormBackward,
  rotate,
  sigmoid,
} from './operations.ref.ts'

export type { RefArrays, RefBatch } from './operations.ref.ts'

/** What a block leaves behind. Widths: qC = H·D, kC = K·D. */
export interface RefBlock {
  /** After input_layernorm, [M, C]. */
  readonly attn_in: Float64Array
  /** As projected: [M, qC], [M, kC], [M, kC]. */
  readonly q: Float64Array
  readonly k: Float64Array
  readonly v: Float64Array
  /** After the per-head norm (Qwen3 only) and the rotation. */
  readonly q_rotated: Float64Array
  readonly k_rotated: Float64Array
  /** [B, H, T, T]; zero where not attended to. */
  readonly attn_probs: Float64Array
  /** Before o_proj, [M, qC]. */
  readonly context: Float64Array
  /** What attention adds to the residual stream, [M, C]. */
  readonly attn_out: Float64Array
  /** Residual stream in between, [M, C]. */
  readonly middle: Float64Array
  /** After post_attention_layernorm, [M, C]. */
  readonly ffn_in: Float64Array
  /** [M, F] each; activated = silu(gate) · up. */
  readonly gate: Float64Array
  readonly up: Float64Array
  readonly activated: Float64Array
  /** What the feed-forward adds to the residual stream, [M, C]. */
  readonly ffn_out: Float64Array
}

export interface RefCache {
  readonly batch: RefBatch
  readonly inv_freq: ArrayLike<number>
  /** Residual stream after l blocks, l = 0 … layers, before any final norm; [M, C] each. */
  readonly hidden_states: readonly Float64Array[]
  /** Final norm of the last of them, [M, C]. */
  readonly normed: Float64Array
  readonly blocks: readonly RefBlock[]
}

/** Which tokens are scored: response token t of a row is predicted at column first_column + t. */
export interface RefResponse {
  /** [rows, response_length], as is the mask. */
  readonly response_ids: ArrayLike<number>
  readonly response_mask: ArrayLike<number>
  /** P − 1: the last column of the prompt. */
  readonly first_column: number
  readonly response_length: number
  readonly temperature: number
  /** Whether an inner layer's states go through the final norm first; default 'raw' = no. */
  readonly readout?: 'raw' | 'normed' | undefined
}

/**
 * Runs the first `layers` blocks (all by default). `inv_freq` [D/2] overrides the config's.
 * Source: Qwen3/Qwen2/Llama of Hugging Face transformers, modeling_*.py.
 */
export function forwardRef(
  config: ModelConfig,
  params: RefArrays,
  batch: RefBatch,
  options: { layers?: number; inv_freq?: ArrayLike<number> } = {},
): RefCache {
  const { hidden_size: C, rms_norm_eps } = config
  const { layers = config.num_hidden_layers } = options
  const inv_freq = options.inv_freq ?? inverseFrequencies(config)
  const embedding = params['model.embed_tokens.weight']
  const embedded = new Float64Array(batch.rows * batch.width * C)
  for (let m = 0; m < batch.rows * batch.width; m++)
    if (batch.attention_mask[m])
      for (let c = 0; c < C; c++) embedded[m * C + c] = embedding[batch.input_ids[m] * C + c]

  const hidden_states = [embedded]
  const blocks: RefBlock[] = []
  for (let l = 0; l < layers; l++) {
    const block = blockForward(config, params, batch, inv_freq, l, hidden_states[l])
    blocks.push(block)
    hidden_states.push(add(block.middle, block.ffn_out))
  }
  const normed = rmsNorm(hidden_states[layers], params['model.norm.weight'], rms_norm_eps)
  return { batch, inv_freq, hidden_states, normed, blocks }
}

function blockForward(
  config: ModelConfig,
  params: RefArrays,
  batch: RefBatch,
  inv_freq: ArrayLike<number>,
  l: number,
  x: Float64Array,
): RefBlock {
  const { rms_norm_eps: eps } = config
  const at = (name: string) => params[`model.layers.${l}.${name}`]
  const tokens = batch.rows * batch.width
  const project = (name: string, input: Float64Array) =>
    linear(input, input.length / tokens, at(`${name}.weight`), at(`${name}.bias`))
  const attn_in = rmsNorm(x, at('input_layernorm.weight'), eps)
  const q = project('self_attn.q_proj', attn_in)
  const k = project('self_attn.k_proj', attn_in)
  const v = project('self_attn.v_proj', attn_in)
  const headNorm = (y: Float64Array, name: string) =>
    config.model_type === 'qwen3' ? rmsNorm(y, at(`self_attn.${name}.weight`), eps) : y
  const q_rotated = rotate(headNorm(q, 'q_norm'), batch, inv_freq, 1)
  const k_rotated = rotate(headNorm(k, 'k_norm'), batch, inv_freq, 1)
  const { attn_probs, context } = attend(config, batch, q_rotated, k_rotated, v)
  const attn_out = project('self_attn.o_proj', context)
  const middle = add(x, attn_out)
  const ffn_in = rmsNorm(middle, at('post_attention_layernorm.weight'), eps)
  const gate = project('mlp.gate_proj', ffn_in)
  const up = project('mlp.up_proj', ffn_in)
  const activated = gate.map((g, i) => g * sigmoid(g) * up[i])
  const ffn_out = project('mlp.down_proj', activated)
  return {
    ...{ attn_in, q, k, v, q_rotated, k_rotated, attn_probs, context, attn_out },
    ...{ middle, ffn_in, gate, up, activated, ffn_out },
  }
}

/** The matrix that turns states into logits: the embedding where they are tied. */
const headName = (config: ModelConfig) =>
  config.tie_word_embeddings ? 'model.embed_tokens' : 'lm_head'

/** logits [n, V] = states [n, C] · U^T, temperature not applied. */
export function logitsRef(
  config: ModelConfig,
  params: RefArrays,
  states: Float64Array,
): Float64Array {
  return linear(states, config.hidden_size, params[`${headName(config)}.weight`])
}

/** Whether the policy of `layer` is read through the final norm: for L always, below it where `readout` says so. */
const readsNormed = (config: ModelConfig, layer: number, readout: RefResponse['readout']) =>
  layer === config.num_hidden_layers || readout === 'normed'

/** What the policy of `layer` reads its logits from, [M, C]. */
function statesOf(
  config: ModelConfig,
  params: RefArrays,
  cache: RefCache,
  layer: number,
  { readout }: RefResponse,
): Float64Array {
  if (!(layer < cache.hidden_states.length))
    throw new RangeError(`layer: expected at most ${cache.blocks.length} blocks, got ${layer}`)
  const states = cache.hidden_states[layer]
  return readsNormed(config, layer, readout)
    ? rmsNorm(states, params['model.norm.weight'], config.rms_norm_eps)
    : states
}

/** Calls `visit` with each unmasked response token: its index in [B, R], its token's index m, and its log-softmax. */
function eachResponseToken(
  config: ModelConfig,
  params: RefArrays,
  cache: RefCache,
  layer: number,
  response: RefResponse,
  visit: (i: number, m: number, log_p: Float64Array, entropy: number) => void,
): void {
  const { hidden_size: C } = config
  const { response_mask, first_column, response_length: R, temperature } = response
  const states = statesOf(config, params, cache, layer, response)
  for (let i = 0; i < cache.batch.rows * R; i++) {
    if (!response_mask[i]) continue
    const m = Math.floor(i / R) * cache.batch.width + first_column + (i % R)
    const logits = logitsRef(config, params, states.subarray(m * C, (m + 1) * C))
    const log_p = logSoftmax(logits.map((z) => z / temperature))
    visit(i, m, log_p, -log_p.reduce((sum, lp) => sum + Math.exp(lp) * lp, 0))
  }
}

/**
 * Log-probabilities of the response tokens and entropies of their distributions, [B, R] in nats, under the policy read
 * after `layer` blocks: softmax(hidden[layer] · U^T / temperature), with the final norm for layer L and for readout 'normed'.
 * Zero where response_mask is. Source: BuPO eq. 5, arXiv 2512.19673.
 */
export function policyRef(
  config: ModelConfig,
  params: RefArrays,
  cache: RefCache,
  layer: number,
  response: RefResponse,
): { log_probs: Float64Array; entropy: Float64Array } {
  const log_probs = new Float64Array(response.response_mask.length)
  const entropy = new Float64Array(response.response_mask.length)
  eachResponseToken(config, params, cache, layer, response, (i, _, log_p, h) => {
    log_probs[i] = log_p[response.response_ids[i]]
    entropy[i] = h
  })
  return { log_probs, entropy }
}

/**
 * Gradients of Σ d_log_probs · log_probs + d_entropy · entropy (both [B, R]) by parameter name. Parameters that
 * policyRef(layer) does not read are absent: blocks above `layer`, and the final norm where it is not read through.
 */
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
  const states = statesOf(config, params, cache, layer, response)
  const d_states = new Float64Array(states.length)
  eachResponseToken(config, params, cache, layer, response, (i, m, log_p, h) => {
    // d log p[id] / d z = onehot(id) − p;  d H / d z = −p · (log p + H);  z = logits / temperature
    const d_logits = log_p.map((lp, v) => {
      const d_log_prob = (v === response_ids[i] ? 1 : 0) - Math.exp(lp)
      return (d_log_probs[i] * d_log_prob - d_entropy[i] * Math.exp(lp) * (lp + h)) / temperature
    })
    d_states.set(
      linearBackward(
        params,
        grads,
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

/** Backward from d_states [M, C], the gradient of what the policy of `layer` reads, down to the embedding; adds to `grads`. */
export function backwardStatesRef(
  config: ModelConfig,
  params: RefArrays,
  cache: RefCache,
  layer: number,
  d_states: Float64Array,
  grads: RefArrays,
  readout: RefResponse['readout'] = 'raw',
): void {
  const { hidden_size: C, rms_norm_eps } = config
  const { batch, hidden_states } = cache
  let d_hidden = d_states
  if (readsNormed(config, layer, readout))
    d_hidden = rmsNormBackward(
      params,
      grads,
      'model.norm.weight',
      rms_norm_eps,
      hidden_states[layer],
      d_states,
    )
  for (let l = layer - 1; l >= 0; l--)
    d_hidden = blockBackward(config, params, grads, cache, l, d_hidden)
  const d_embedding = gradOf(params, grads, 'model.embed_tokens.weight')
  for (let m = 0; m < batch.rows * batch.width; m++)
    if (batch.attention_mask[m])
      for (let c = 0; c < C; c++) d_embedding[batch.input_ids[m] * C + c] += d_hidden[m * C + c]
}

/** Gradient of hidden[l] from that of hidden[l+1]; the last line of blockForward first. */
function blockBackward(
  config: ModelConfig,
  params: RefArrays,
  grads: RefArrays,
  { batch, inv_freq, hidden_states, blocks }: RefCache,
  l: number,
  d_out: Float64Array,
): Float64Array {
  const { rms_norm_eps: eps } = config
  const block = blocks[l]
  const at = `model.layers.${l}.`
  const tokens = batch.rows * batch.width
  const unproject = (name: string, input: Float64Array, d_y: Float64Array) =>
    linearBackward(params, grads, `${at}${name}`, input, input.length / tokens, d_y)
  const unnorm = (name: string, input: Float64Array, d_y: Float64Array) =>
    rmsNormBackward(params, grads, `${at}${name}.weight`, eps, input, d_y)

  const d_activated = unproject('mlp.down_proj', block.activated, d_out)
  const d_up = d_activated.map((d, i) => d * block.gate[i] * sigmoid(block.gate[i]))
  // silu'(g) = σ(g) · (1 + g · (1 − σ(g)))
  const d_gate = d_activated.map((d, i) => {
    const s = sigmoid(block.gate[i])
    return d * block.up[i] * s * (1 + block.gate[i] * (1 - s))
  })
  const d_ffn_in = add(
    unproject('mlp.gate_proj', block.ffn_in, d_gate),
    unproject('mlp.up_proj', block.ffn_in, d_up),
  )
  const d_middle = add(d_out, unnorm('post_attention_layernorm', block.middle, d_ffn_in))

  const d_context = unproject('self_attn.o_proj', block.context, d_middle)
  const { d_q_rotated, d_k_rotated, d_v } = attendBackward(config, batch, block, d_context)
  const headUnnorm = (name: string, input: Float64Array, d_y: Float64Array) =>
    config.model_type === 'qwen3' ? unnorm(`self_attn.${name}`, input, d_y) : d_y
  const d_q = headUnnorm('q_norm', block.q, rotate(d_q_rotated, batch, inv_freq, -1))
  const d_k = headUnnorm('k_norm', block.k, rotate(d_k_rotated, batch, inv_freq, -1))
  const d_attn_in = add(
    unproject('self_attn.q_proj', block.attn_in, d_q),
    unproject('self_attn.k_proj', block.attn_in, d_k),
    unproject('self_attn.v_proj', block.attn_in, d_v),
  )
  return add(d_middle, unnorm('input_layernorm', hidden_states[l], d_attn_in))
}
