// Makes one supervised step, the same for every library of the benchmark: weights, tokens, masks
// and tables.
import { inverseFrequencies } from '../../src/model/layout/config.ts'
import { type ParamLayout, unpackWeights } from '../../src/model/layout/params.ts'
import type { SftPhase } from '../../src/rl/config/phase.ts'
import { type RolloutBatch, tokenCount } from '../../src/rl/experience/batch.ts'

export interface SftProblem {
  readonly layout: ParamLayout
  /** In the flat layout of src/model/layout/params.ts. */
  readonly weights: Float32Array
  readonly batch: RolloutBatch
  readonly phase: SftPhase
}

/** A library with the problem loaded. */
export interface SftRunner {
  /** Queues one step: forward, cross-entropy, backward, clip, AdamW. */
  readonly step: () => void
  /** Resolves when the GPU has finished every queued step. */
  readonly finish: () => Promise<void>
  /** Loss (before its update) and gradient norm (before clipping) of the last step. */
  readonly read: () => Promise<{ loss: number; grad_norm: number }>
  readonly destroy: () => void
}

/** torch.optim.AdamW's eps, as in src/rl/learners/trainable.ts. */
export const ADAM_EPS = 1e-8
/** What torch.nn.utils.clip_grad_norm_ adds to the norm. */
export const CLIP_EPS = 1e-6
/** Added to a masked score: its exponential is exactly 0 in float32, and a row of masked scores
 * only gives no NaN. */
const MASKED = -1e9

/** A matrix or vector of the model with its shape. */
export interface Leaf<S extends readonly number[] = readonly number[]> {
  readonly values: Float32Array<ArrayBuffer>
  readonly shape: S
}

/** The parameters in the other libraries: q, k and v are one matrix, gate and up are one, as in
 * Understory. */
export interface Leaves<T = Leaf> {
  /** [V, C] */
  readonly embed: T
  readonly blocks: readonly BlockLeaves<T>[]
  /** [C] */
  readonly norm: T
}

export interface BlockLeaves<T = Leaf> {
  /** [C] */
  readonly attn_norm: T
  /** [3 · H · D, C] */
  readonly qkv: T
  /** [2, D] */
  readonly qk_norm: T
  /** [C, H · D] */
  readonly o: T
  /** [C] */
  readonly ffn_norm: T
  /** [2F, C] */
  readonly gate_up: T
  /** [C, F] */
  readonly down: T
}

const BLOCK_LEAVES = [
  'attn_norm',
  'qkv',
  'qk_norm',
  'o',
  'ffn_norm',
  'gate_up',
  'down',
] as const satisfies readonly (keyof BlockLeaves)[]

/** Throws RangeError for what the other libraries' models lack: they are Qwen3 with a tied head and
 * as many kv heads as heads. */
export function requireSupported({ shape }: ParamLayout): void {
  const { model_type, tie_word_embeddings, num_attention_heads: H, num_key_value_heads: K } = shape
  if (model_type !== 'qwen3' || !tie_word_embeddings || H !== K || shape.rope_scaling)
    throw new RangeError(
      `bench model: expected qwen3, tied, plain rotary, K = H; got ${model_type}, K = ${K}, H = ${H}`,
    )
}

export function leavesOf({ layout, weights }: SftProblem): Leaves {
  const named = unpackWeights(layout, weights)
  const { hidden_size: C, head_dim: D, num_hidden_layers: L } = layout.shape
  const join = (columns: number | undefined, ...names: string[]): Leaf => {
    const parts = names.map((name) => named[`${name}.weight`])
    const values = new Float32Array(parts.reduce((n, { length }) => n + length, 0))
    let end = 0
    for (const part of parts) {
      values.set(part, end)
      end += part.length
    }
    return { values, shape: columns ? [values.length / columns, columns] : [values.length] }
  }
  const block = (l: number): BlockLeaves => {
    const at = (...names: string[]) => names.map((name) => `model.layers.${l}.${name}`)
    const attn = (...names: string[]) => at(...names.map((name) => `self_attn.${name}`))
    const { attentionSize, intermediate_size } = layout.shape
    return {
      attn_norm: join(undefined, ...at('input_layernorm')),
      qkv: join(C, ...attn('q_proj', 'k_proj', 'v_proj')),
      qk_norm: join(D, ...attn('q_norm', 'k_norm')),
      o: join(attentionSize, ...attn('o_proj')),
      ffn_norm: join(undefined, ...at('post_attention_layernorm')),
      gate_up: join(C, ...at('mlp.gate_proj', 'mlp.up_proj')),
      down: join(intermediate_size, ...at('mlp.down_proj')),
    }
  }
  return {
    embed: join(C, 'model.embed_tokens'),
    blocks: Array.from({ length: L }, (_, l) => block(l)),
    norm: join(undefined, 'model.norm'),
  }
}

/** Leaves in the order that the flat array holds them in. */
export const listLeaves = <T>({ embed, blocks, norm }: Leaves<T>): T[] => [
  embed,
  ...blocks.flatMap((block) => BLOCK_LEAVES.map((name) => block[name])),
  norm,
]

export function namedLeaves<T>([embed, ...rest]: readonly T[]): Leaves<T> {
  const n = BLOCK_LEAVES.length
  const block = (l: number) =>
    Object.fromEntries(BLOCK_LEAVES.map((name, i) => [name, rest[l * n + i]]))
  return {
    embed,
    blocks: Array.from({ length: (rest.length - 1) / n }, (_, l) => block(l) as never),
    norm: rest[rest.length - 1],
  }
}

/** All leaves one after another, [N]. */
export function flatOf(listed: readonly Leaf[]): Float32Array<ArrayBuffer> {
  const flat = new Float32Array(listed.reduce((n, { values }) => n + values.length, 0))
  let end = 0
  for (const { values } of listed) {
    flat.set(values, end)
    end += values.length
  }
  return flat
}

/** What the other libraries' models read beside the weights. It is computed once, in their favour:
 * our kernels compute it each time. */
export interface Tables {
  /** [B, T] */
  readonly ids: Int32Array<ArrayBuffer>
  /** [B, R] */
  readonly targets: Int32Array<ArrayBuffer>
  /** response_mask / token count, [B, R]. */
  readonly token_weights: Float32Array<ArrayBuffer>
  /** Causal and padding mask to add to scores, [B, T, T]. */
  readonly bias: Float32Array<ArrayBuffer>
  /** Rotary embedding is x · cos + swap_halves(x) · sin, with cos and sin [B, T, D] and the first
   * half of sin negative. Both hold a factor D^(-1/4), so that q · k comes out scaled by 1/√D. */
  readonly cos: Float32Array<ArrayBuffer>
  readonly sin: Float32Array<ArrayBuffer>
}

export function tablesOf({ layout, batch }: SftProblem): Tables {
  const { head_dim: D } = layout.shape
  const { rows: B, prompt_length, response_length, attention_mask, position_ids } = batch
  const T = prompt_length + response_length
  const bias = new Float32Array(B * T * T)
  for (let b = 0; b < B; b++)
    for (let t = 0; t < T; t++)
      for (let s = 0; s < T; s++)
        bias[(b * T + t) * T + s] = s <= t && attention_mask[b * T + s] ? 0 : MASKED
  const invFreq = inverseFrequencies(layout.shape)
  const cos = new Float32Array(B * T * D)
  const sin = new Float32Array(B * T * D)
  const scale = D ** -0.25
  for (let i = 0; i < cos.length; i++) {
    const [d, half] = [i % D, D / 2]
    const angle = position_ids[Math.floor(i / D)] * invFreq[d % half]
    cos[i] = scale * Math.cos(angle)
    sin[i] = scale * Math.sin(angle) * (d < half ? -1 : 1)
  }
  return {
    ids: Int32Array.from(batch.input_ids),
    targets: Int32Array.from(batch.response_ids),
    token_weights: batch.response_mask.map(
      (m) => m / tokenCount(batch),
    ) as Float32Array<ArrayBuffer>,
    bias,
    cos,
    sin,
  }
}
