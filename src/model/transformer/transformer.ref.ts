// Computes the transformer in float64 and plain loops: the reference that
// model/transformer/transformer.ts is tested against. Written to be read, not to be fast. B rows, T
// columns, M = B·T tokens; C hidden, F intermediate, H query heads, K key/value heads, D head size.
// Columns with attention_mask 0 embed to zero, are never attended to and get no gradient.
import { edited, firstEdited, type RefEdit } from '../interventions/edits.ref.ts'
import { vectorName } from '../layout/adapter_layout.ts'
import { inverseFrequencies, type ModelConfig } from '../layout/config.ts'
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
  readonly qRotated: Float64Array
  readonly kRotated: Float64Array
  /** [B, H, T, T]; zero where not attended to. */
  readonly attnProbs: Float64Array
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

interface RefOptions {
  /** How many blocks run; default all. */
  readonly layers?: number
  /** [D/2], in place of the config's. */
  readonly inv_freq?: ArrayLike<number>
  /** Without one the base alone runs. */
  readonly adapter?: RefAdapter | undefined
  /** What is changed on the way. */
  readonly edits?: readonly RefEdit[]
  /** The same pass without edits: blocks below the first edit are taken from it. */
  readonly untouched?: RefCache
}

/** Runs blocks of the model.
 * Source: Qwen3/Qwen2/Llama of Hugging Face transformers, modeling_*.py. */
export function forwardRef(
  config: ModelConfig,
  params: RefArrays,
  batch: RefBatch,
  options: RefOptions = {},
): RefCache {
  const { layers = config.num_hidden_layers, adapter, edits = [], untouched } = options
  const inv_freq = options.inv_freq ?? inverseFrequencies(config)
  const known = untouched ? firstEdited(edits) : 0
  const residual = (l: number, x: Float64Array) => edited(edits, batch, config, 'residual', l, x)
  const steered = (l: number, x: Float64Array) => {
    const vector = adapter?.factors[vectorName(l)]
    return vector ? x.map((value, i) => value + vector[i % vector.length]) : x
  }
  const embedded = untouched?.hidden_states[0] ?? steered(0, embed(config, params, batch))
  const hidden_states = [residual(0, embedded)]
  const blocks: RefBlock[] = []
  for (let l = 0; l < layers; l++) {
    const x = hidden_states[l]
    const run = { params, adapter, inv_freq, edits }
    const block = (l < known && untouched?.blocks[l]) || blockForward(config, run, batch, l, x)
    blocks.push(block)
    const written =
      (l < known && untouched?.hidden_states[l + 1]) ||
      steered(l + 1, add(block.middle, block.ffn_out))
    hidden_states.push(residual(l + 1, edited(edits, batch, config, 'block', l + 1, written, x)))
  }
  const normed = rmsNorm(hidden_states[layers], params['model.norm.weight'], config.rms_norm_eps)
  return { batch, inv_freq, hidden_states, normed, blocks, adapter }
}

/** The embedding of every token, [M, C]. */
function embed(
  { hidden_size: C }: ModelConfig,
  params: RefArrays,
  { rows, width, attention_mask, input_ids }: RefBatch,
): Float64Array {
  const embedding = params['model.embed_tokens.weight']
  const embedded = new Float64Array(rows * width * C)
  for (let m = 0; m < rows * width; m++)
    if (attention_mask[m])
      for (let c = 0; c < C; c++) embedded[m * C + c] = embedding[input_ids[m] * C + c]
  return embedded
}

interface BlockRun {
  readonly params: RefArrays
  readonly adapter: RefAdapter | undefined
  readonly inv_freq: ArrayLike<number>
  readonly edits: readonly RefEdit[]
}

function blockForward(
  config: ModelConfig,
  { params, adapter, inv_freq, edits }: BlockRun,
  batch: RefBatch,
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
  const qRotated = rotate(headNorm(q, 'q_norm'), batch, inv_freq, 1)
  const kRotated = rotate(headNorm(k, 'k_norm'), batch, inv_freq, 1)
  const attended = attend(config, batch, qRotated, kRotated, v)
  const { attnProbs } = attended
  const edit = (where: RefEdit['where'], state: Float64Array) =>
    edited(edits, batch, config, where, l + 1, state)
  const context = edit('head', attended.context)
  const attn_out = edit('attention', project('self_attn.o_proj', context))
  const middle = add(x, attn_out)
  const ffn_in = rmsNorm(middle, at('post_attention_layernorm.weight'), eps)
  const gate = project('mlp.gate_proj', ffn_in)
  const up = project('mlp.up_proj', ffn_in)
  const activated = gate.map((g, i) => g * sigmoid(g) * up[i])
  const ffn_out = edit('feed_forward', project('mlp.down_proj', activated))
  return {
    attn_in,
    q,
    k,
    v,
    qRotated,
    kRotated,
    attnProbs,
    context,
    attn_out,
    middle,
    ffn_in,
    gate,
    up,
    activated,
    ffn_out,
  }
}
