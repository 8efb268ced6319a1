// Lists the parameters once: where each lies in the flat buffers of weights, gradients and
// moments.

import type { Tensor } from '../../kernels/device/base/tensor.ts'
import { normalValues } from '../../kernels/sampling/philox.ts'
import type { ModelShape } from './config.ts'
import {
  bias,
  type FlatLayout,
  FlatParams,
  matrix,
  norm,
  type Slice,
  segmentStart,
} from './flat_params.ts'

/** What reads the last states: the vocabulary (a policy), one number per token (a critic, Hugging
 * Face's ForTokenClassification with one label) or one per sequence (a reward model,
 * ForSequenceClassification with one label). */
export type Head = 'lm_head' | 'value_head' | 'reward_head'

/** Where everything lies. Order: embedding, untied head, block 1 … L, final norm, score. So the
 * parameters that a layer policy trains are a prefix (trainedPrefix). Segments: the embedding, the
 * untied head where there is one, each block, and the final norm with the score where there is
 * one. */
export interface ParamLayout extends FlatLayout {
  readonly shape: ModelShape
  readonly head: Head
  /** Weights without padding: what a person calls the model's size. */
  readonly num_parameters: number
  readonly slices: {
    readonly embed_tokens: Slice
    readonly lm_head: Slice
    readonly norm: Slice
    readonly layers: readonly LayerTensors<Slice>[]
    /** Of a value or reward head. */
    readonly score: Slice | undefined
    /** Of a value head. */
    readonly score_bias: Slice | undefined
  }
}

/** The tensors of one block, as its kernels take them. */
export interface LayerTensors<T = Tensor> {
  readonly input_layernorm: T
  /** [(H + 2K) · D, C]: q_proj, k_proj, v_proj. */
  readonly qkv_proj: T
  /** [(H + 2K) · D]; a single zero block where the architecture has no bias. */
  readonly qkv_bias: T
  /** [2, D]: q_norm, k_norm. */
  readonly qk_norm: T
  /** [C, H · D] */
  readonly o_proj: T
  readonly post_attention_layernorm: T
  /** [2F, C]: gate_proj, up_proj. */
  readonly gate_up_proj: T
  /** [C, F] */
  readonly down_proj: T
}

/** Keeps initial weights apart from sampling, which uses the same generator and seed
 * (rl/train/trainer.ts STREAM). */
const INIT_STREAM = 0xffffffff

/** Standard deviation of the embedding at initialisation. */
const EMBEDDING_STD = 0.02

/** Lists every parameter of a model. Matrices start with std 1/√fanIn, those that write to the
 * residual stream with 1/√(fanIn · 2L) (GPT-2's rule, Radford et al. 2019 section 2.3). A score
 * starts with std 0.02, as in Hugging Face. */
export function paramLayout(shape: ModelShape, head: Head = 'lm_head'): ParamLayout {
  const { hidden_size: C, vocab_size: V } = shape
  const flat = new FlatParams()
  const embed_tokens = flat.place(matrix('model.embed_tokens', V, C, EMBEDDING_STD))
  flat.closeSegment()
  const isTied = shape.tie_word_embeddings || head !== 'lm_head'
  const lm_head = isTied ? embed_tokens : flat.place(matrix('lm_head', V, C))
  if (!isTied) flat.closeSegment()
  const layers = Array.from({ length: shape.num_hidden_layers }, (_, l) => {
    const layer = placeLayer(flat, shape, `model.layers.${l}`)
    flat.closeSegment()
    return layer
  })
  const finalNorm = flat.place(norm('model.norm', C))
  const score = head === 'lm_head' ? undefined : flat.place(matrix('score', 1, C, EMBEDDING_STD))
  const score_bias = head === 'value_head' ? flat.place(bias('score', 1)) : undefined
  flat.closeSegment()
  const { params, size, segment_ends, placed } = flat
  return {
    shape,
    head,
    params,
    size,
    num_parameters: params.reduce((n, p) => n + p.size, 0),
    segment_ends,
    placed,
    first_block: isTied ? 1 : 2,
    numBlocks: shape.num_hidden_layers,
    slices: { embed_tokens, lm_head, norm: finalNorm, layers, score, score_bias },
  }
}

/** The parameters of one block, whose names start with `at`. */
function placeLayer(flat: FlatParams, shape: ModelShape, at: string): LayerTensors<Slice> {
  const { hidden_size: C, intermediate_size: F, head_dim: D, num_hidden_layers: L } = shape
  const q = shape.attentionSize
  const kv = shape.num_key_value_heads * D
  const attn = `${at}.self_attn`
  const toResidual = (fanIn: number) => 1 / Math.sqrt(fanIn * 2 * L)
  const qkv = [
    [`${attn}.q_proj`, q],
    [`${attn}.k_proj`, kv],
    [`${attn}.v_proj`, kv],
  ] as const
  const qkNorms = [norm(`${attn}.q_norm`, D), norm(`${attn}.k_norm`, D)]
  return {
    input_layernorm: flat.place(norm(`${at}.input_layernorm`, C)),
    qkv_proj: flat.place(...qkv.map(([name, rows]) => matrix(name, rows, C))),
    qkv_bias: flat.place(...(shape.hasQkvBias ? qkv.map(([name, rows]) => bias(name, rows)) : [])),
    qk_norm: flat.place(...(shape.has_qk_norm ? qkNorms : [])),
    o_proj: flat.place(matrix(`${attn}.o_proj`, C, q, toResidual(q))),
    post_attention_layernorm: flat.place(norm(`${at}.post_attention_layernorm`, C)),
    gate_up_proj: flat.place(
      matrix(`${at}.mlp.gate_proj`, F, C),
      matrix(`${at}.mlp.up_proj`, F, C),
    ),
    down_proj: flat.place(matrix(`${at}.mlp.down_proj`, C, F, toResidual(F))),
  }
}

/** Fresh weights in the flat layout: a function of (layout, seed) alone, the same on every
 * machine. */
export function initialWeights(layout: ParamLayout, seed: number): Float32Array {
  const flat = new Float32Array(layout.size)
  layout.params.forEach(({ offset, size, init }, index) => {
    if ('fill' in init) flat.fill(init.fill, offset, offset + size)
    else flat.set(normalValues(size, init.std, [seed, INIT_STREAM], index), offset)
  })
  return flat
}

/** The flat layout to named arrays, each a view of `flat`. */
export function unpackWeights(
  layout: ParamLayout,
  flat: Float32Array,
): Record<string, Float32Array> {
  return Object.fromEntries(
    layout.params.map(({ name, offset, size }) => [name, flat.subarray(offset, offset + size)]),
  )
}

/** Elements of one layout that are elements of another. */
export interface SharedRun {
  readonly fromOffset: number
  readonly toOffset: number
  readonly count: number
}

/** What two layouts of one transformer have in common whatever their heads are: embedding, blocks
 * and final norm, as runs of elements to copy. Throws RangeError for transformers of different
 * sizes. */
export function sharedRuns(from: ParamLayout, to: ParamLayout): SharedRun[] {
  const start = (layout: ParamLayout) => segmentStart(layout, layout.first_block)
  const blocks = (layout: ParamLayout) =>
    layout.slices.norm.offset + layout.shape.hidden_size - start(layout)
  const embedding = ({ shape }: ParamLayout) => shape.vocab_size * shape.hidden_size
  if (blocks(from) !== blocks(to) || embedding(from) !== embedding(to))
    throw new RangeError('weights: expected two transformers of the same size')
  return [
    { fromOffset: 0, toOffset: 0, count: embedding(from) },
    { fromOffset: start(from), toOffset: start(to), count: blocks(from) },
  ]
}
