// Computes in float64 what each head of attention looks at and writes, and what each part of a
// model adds to a logit.
import type { ModelConfig } from '../layout/config.ts'
import { linear, type RefArrays } from '../transformer/operations.ref.ts'
import { headName } from '../transformer/policy.ref.ts'
import type { RefBlock, RefCache } from '../transformer/transformer.ref.ts'

/** o_proj's columns that read head h, [C, D]. */
function outputOf(config: ModelConfig, params: RefArrays, l: number, h: number): Float64Array {
  const { hidden_size: C, head_dim: D, num_attention_heads: H } = config
  const weight = params[`model.layers.${l}.self_attn.o_proj.weight`]
  const own = new Float64Array(C * D)
  for (let c = 0; c < C; c++)
    for (let d = 0; d < D; d++) own[c * D + d] = weight[c * H * D + h * D + d]
  return own
}

/** Head h's numbers of every token [M, D] out of [M, heads · D]. */
function ofHead(states: Float64Array, heads: number, D: number, h: number): Float64Array {
  const own = new Float64Array(states.length / heads)
  for (let i = 0; i < own.length; i++)
    own[i] = states[Math.floor(i / D) * heads * D + h * D + (i % D)]
  return own
}

/** What head h of block `l` (from 0) writes into the residual stream, [M, C]: W_O^h z. The heads of
 * a block add up to its attention. */
export function headWriteRef(
  config: ModelConfig,
  params: RefArrays,
  { blocks }: Pick<RefCache, 'blocks'>,
  l: number,
  h: number,
): Float64Array {
  const { head_dim: D, num_attention_heads: H } = config
  return linear(ofHead(blocks[l].context, H, D, h), D, outputOf(config, params, l, h))
}

/** ‖W_O^h v_j‖ of every token j, [M]: what head h of block `l` would write of it alone. */
export function valueNormsRef(
  config: ModelConfig,
  params: RefArrays,
  { blocks }: Pick<RefCache, 'blocks'>,
  l: number,
  h: number,
): Float64Array {
  const { head_dim: D, num_attention_heads: H, num_key_value_heads: K, hidden_size: C } = config
  const v = ofHead(blocks[l].v, K, D, Math.floor(h / (H / K)))
  return rowNorms(linear(v, D, outputOf(config, params, l, h)), C)
}

/** ‖row‖ of each run of `size` numbers. */
export const rowNorms = (x: Float64Array, size: number): Float64Array =>
  Float64Array.from({ length: x.length / size }, (_, i) =>
    Math.sqrt(x.subarray(i * size, (i + 1) * size).reduce((sum, value) => sum + value ** 2, 0)),
  )

/** Probabilities of head h for the queries of row b, [T, T]. */
export function probsOf(
  { num_attention_heads: H }: ModelConfig,
  { attnProbs }: RefBlock,
  width: number,
  b: number,
  h: number,
): Float64Array {
  const size = width ** 2
  return attnProbs.subarray((b * H + h) * size, (b * H + h + 1) * size)
}

/** Direction [C] in which a logit, or a difference of logits, grows. */
export type Direction = (m: number) => Float64Array

/** Direct logit attribution: [M] each, of the embedding, of each block's attention and
 * feed-forward, and of each head. */
export interface Attribution {
  readonly total: Float64Array
  readonly embed: Float64Array
  readonly attn: readonly Float64Array[]
  readonly ffn: readonly Float64Array[]
  /** [L][H] */
  readonly head: readonly (readonly Float64Array[])[]
}

/** Splits the logit of a direction u into what each part adds: u · (γ · part / s), with the final
 * norm's s = √(mean(h²) + eps) of the whole stream at that token. embed + Σ attn + Σ ffn = total,
 * and the heads of a block add up to its attention. */
export function attributionRef(
  config: ModelConfig,
  params: RefArrays,
  cache: RefCache,
  direction: Direction,
): Attribution {
  const { hidden_size: C, rms_norm_eps, num_hidden_layers: L, num_attention_heads: H } = config
  const { hidden_states, blocks, batch } = cache
  const gamma = params['model.norm.weight']
  const top = hidden_states[L]
  const tokens = Array.from({ length: batch.rows * batch.width }, (_, m) => {
    if (!batch.attention_mask[m]) return new Float64Array(C)
    const h = top.subarray(m * C, (m + 1) * C)
    const scale = Math.sqrt(h.reduce((sum, x) => sum + x ** 2, 0) / C + rms_norm_eps)
    return direction(m).map((u, c) => (u * gamma[c]) / scale)
  })
  const of = (part: Float64Array) =>
    Float64Array.from(tokens, (u, m) => u.reduce((sum, x, c) => sum + x * part[m * C + c], 0))
  return {
    total: of(top),
    embed: of(hidden_states[0]),
    attn: blocks.map(({ attn_out }) => of(attn_out)),
    ffn: blocks.map(({ ffn_out }) => of(ffn_out)),
    head: blocks.map((_, l) =>
      Array.from({ length: H }, (_head, h) => of(headWriteRef(config, params, cache, l, h))),
    ),
  }
}

/** Row `id` of the unembedding, [C]. */
export const unembeddingOf = (config: ModelConfig, params: RefArrays, id: number): Float64Array =>
  params[`${headName(config)}.weight`].subarray(
    id * config.hidden_size,
    (id + 1) * config.hidden_size,
  )

/** Mean over the vocabulary of the unembedding's rows, [C]. */
export function meanUnembedding(config: ModelConfig, params: RefArrays): Float64Array {
  const { hidden_size: C, vocab_size: V } = config
  const mean = new Float64Array(C)
  for (let v = 0; v < V; v++)
    unembeddingOf(config, params, v).forEach((x, c) => {
      mean[c] += x / V
    })
  return mean
}
