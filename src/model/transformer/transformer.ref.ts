// The transformer in float64 and plain loops: the reference that model/transformer/transformer.ts is tested against. Written to be read, not to
// be fast. B rows, T columns, M = B·T tokens; C hidden, F intermediate, H query heads, K key/value heads, D head size.
// Columns with attention_mask 0 embed to zero, are never attended to and get no gradient.
import { inverseFrequencies, type ModelConfig } from '../params/config.ts'
import { adaptedLinear, type RefAdapter } from './low_rank.ref.ts'
import {
  add,
  attend,
  type RefArrays,
  type RefBatch,
  rmsNorm,
  rotate,
  sigmoid,
} from './operations.ref.ts'

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
  /** The adapter that was on. */
  readonly adapter: RefAdapter | undefined
}

/**
 * Runs the first `layers` blocks (all by default). `inv_freq` [D/2] overrides the config's; without `adapter` the base alone runs.
 * Source: Qwen3/Qwen2/Llama of Hugging Face transformers, modeling_*.py.
 */
export function forwardRef(
  config: ModelConfig,
  params: RefArrays,
  batch: RefBatch,
  options: { layers?: number; inv_freq?: ArrayLike<number>; adapter?: RefAdapter | undefined } = {},
): RefCache {
  const { hidden_size: C, rms_norm_eps } = config
  const { layers = config.num_hidden_layers, adapter } = options
  const inv_freq = options.inv_freq ?? inverseFrequencies(config)
  const embedding = params['model.embed_tokens.weight']
  const embedded = new Float64Array(batch.rows * batch.width * C)
  for (let m = 0; m < batch.rows * batch.width; m++)
    if (batch.attention_mask[m])
      for (let c = 0; c < C; c++) embedded[m * C + c] = embedding[batch.input_ids[m] * C + c]

  const hidden_states = [embedded]
  const blocks: RefBlock[] = []
  for (let l = 0; l < layers; l++) {
    const block = blockForward(config, { params, adapter }, batch, inv_freq, l, hidden_states[l])
    blocks.push(block)
    hidden_states.push(add(block.middle, block.ffn_out))
  }
  const normed = rmsNorm(hidden_states[layers], params['model.norm.weight'], rms_norm_eps)
  return { batch, inv_freq, hidden_states, normed, blocks, adapter }
}

function blockForward(
  config: ModelConfig,
  { params, adapter }: { params: RefArrays; adapter: RefAdapter | undefined },
  batch: RefBatch,
  inv_freq: ArrayLike<number>,
  l: number,
  x: Float64Array,
): RefBlock {
  const { rms_norm_eps: eps } = config
  const at = (name: string) => params[`model.layers.${l}.${name}`]
  const tokens = batch.rows * batch.width
  const project = (name: string, input: Float64Array) =>
    adaptedLinear(params, adapter, `model.layers.${l}.${name}`, input, input.length / tokens)
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
