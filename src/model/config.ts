// The shape of a transformer, in Hugging Face config.json names.
import { ShapeError } from '../kernels/errors.ts'

/** Architectures of one family of decoders: RMSNorm before each block, rotary embedding, SwiGLU. */
export type ModelType = 'qwen3' | 'qwen2' | 'llama'

export interface ModelConfig {
  readonly model_type: ModelType
  /** V */
  readonly vocab_size: number
  /** C */
  readonly hidden_size: number
  readonly intermediate_size: number
  /** L */
  readonly num_hidden_layers: number
  /** H: query heads. */
  readonly num_attention_heads: number
  /** K: key and value heads; each serves H / K query heads. */
  readonly num_key_value_heads: number
  /** D; independent of hidden_size. */
  readonly head_dim: number
  readonly rms_norm_eps: number
  readonly rope_theta: number
  /** The unembedding is the embedding. */
  readonly tie_word_embeddings: boolean
}

/** Sizes and switches that follow from a config. */
export interface ModelShape extends ModelConfig {
  /** Columns of q, k and v together: (H + 2K) · D. */
  readonly qkv_size: number
  /** Columns of the attention output: H · D. */
  readonly attention_size: number
  /** Per-head RMSNorm of q and k (Qwen3). */
  readonly has_qk_norm: boolean
  /** Bias on the q, k and v projections (Qwen2). */
  readonly has_qkv_bias: boolean
}

/** Checks a config and derives its sizes. Throws ShapeError naming the field. */
export function modelShape(config: ModelConfig): ModelShape {
  const whole = [
    'vocab_size',
    'hidden_size',
    'intermediate_size',
    'num_hidden_layers',
    'num_attention_heads',
    'num_key_value_heads',
    'head_dim',
  ] as const
  for (const name of whole)
    if (!Number.isInteger(config[name]) || config[name] < 1)
      throw new ShapeError(
        `model.${name}: expected a whole number of at least 1, got ${config[name]}`,
      )
  const { num_attention_heads, num_key_value_heads, head_dim } = config
  if (num_attention_heads % num_key_value_heads !== 0)
    throw new ShapeError(
      `model.num_attention_heads: expected a multiple of num_key_value_heads (${num_key_value_heads}), got ${num_attention_heads}`,
    )
  if (head_dim % 2 !== 0)
    throw new ShapeError(
      `model.head_dim: expected an even number for rotary embedding, got ${head_dim}`,
    )
  return {
    ...config,
    qkv_size: (num_attention_heads + 2 * num_key_value_heads) * head_dim,
    attention_size: num_attention_heads * head_dim,
    has_qk_norm: config.model_type === 'qwen3',
    has_qkv_bias: config.model_type === 'qwen2',
  }
}

/** Angular frequency of each pair of a head, [D/2]: theta^(-2i/D). Su et al. 2021, arXiv 2104.09864. */
export function inverseFrequencies({ head_dim, rope_theta }: ModelConfig): Float32Array {
  return Float32Array.from({ length: head_dim / 2 }, (_, i) => rope_theta ** ((-2 * i) / head_dim))
}
