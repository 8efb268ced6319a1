// Describes the shape of a transformer, in Hugging Face config.json names.
import { ShapeError } from '../../kernels/device/base/errors.ts'

/** Architectures of one family of decoders: RMSNorm before each block, rotary embedding, SwiGLU. */
export type ModelType = 'qwen3' | 'qwen2' | 'llama'

/** Llama 3.1's rule for longer contexts: pairs that turn slowly are slowed down further.
 * Source: Hugging Face transformers, modeling_rope_utils.py _compute_llama3_parameters. */
export interface Llama3RopeScaling {
  readonly rope_type: 'llama3'
  /** By how much slow pairs are slowed; at least 1. */
  readonly factor: number
  /** Turns within the original context below which a pair is slow … */
  readonly low_freq_factor: number
  /** … and above which it is left alone. */
  readonly high_freq_factor: number
  /** The original context, in tokens. */
  readonly original_max_position_embeddings: number
}

/** A LoRA adapter on a frozen base: PEFT's LoraConfig, without what is refused
 * (model/hf/peft_config.ts). */
export interface LoraConfig {
  /** Rank: rows of A, columns of B. */
  readonly r: number
  readonly lora_alpha: number
  /** Whether the scale is lora_alpha / √r (Kalajdzievski 2023, arXiv 2312.03732) in place of
   * lora_alpha / r. */
  readonly use_rslora: boolean
  /** 'all-linear' = every projection; a name stands for all modules that end with it, a whole path
   * for one. */
  readonly target_modules: 'all-linear' | readonly string[]
  /** Blocks counted from 0, as in PEFT; null = all. */
  readonly layers_to_transform: readonly number[] | null
}

/** Steering vectors on a frozen base: one for each layer, added to the residual stream after it at
 * every token (Sinii et al. 2025, arXiv 2509.06608). */
export interface SteeringConfig {
  /** Blocks applied, 0 (the embedding) to L; null = after every block. */
  readonly layers: readonly number[] | null
}

/** How matrices lie in GPU memory. */
export type MatrixDtype = 'float32' | 'bfloat16'

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
  /** Absent = plain rotary embedding. */
  readonly rope_scaling?: Llama3RopeScaling
  /** The token whose embedding gets no gradient where it is an input: config.json's pad_token_id,
   * as Hugging Face's models pass it to torch.nn.Embedding. Absent = every token's does. */
  readonly padding_idx?: number
  /** The unembedding is the embedding. */
  readonly tie_word_embeddings: boolean
  /** What is trained in place of the model's own weights; absent = those. */
  readonly lora?: LoraConfig | undefined
  /** The same: vectors in place of an adapter. */
  readonly steering_vectors?: SteeringConfig | undefined
  /** How matrices that are not trained lie in GPU memory; what is trained is float32. Absent =
   * float32. */
  readonly dtype?: MatrixDtype
  /** What blocks keep for their backward in (model/transformer/kept_halves.ts). Absent =
   * float32. */
  readonly activations_dtype?: MatrixDtype
  /** Whether small sizes take kernels without barriers, of attention, vocabulary head, embedding
   * and sampling. False = tiled ones at every size, as a large model's: checks ask for it. Absent =
   * true. */
  readonly narrowKernels?: boolean
}

/** Sizes and switches that follow from a config. */
export interface ModelShape extends ModelConfig {
  /** Columns of q, k and v together: (H + 2K) · D. */
  readonly qkvSize: number
  /** Columns of the attention output: H · D. */
  readonly attentionSize: number
  /** Per-head RMSNorm of q and k (Qwen3). */
  readonly has_qk_norm: boolean
  /** Bias on the q, k and v projections (Qwen2). */
  readonly hasQkvBias: boolean
}

/** What matrices can lie in without loss, of a model whose files have them in bfloat16 or not:
 * bfloat16 values lie in pairs. */
export const exactDtype = (
  { hidden_size, intermediate_size }: Pick<ModelConfig, 'hidden_size' | 'intermediate_size'>,
  areBfloat16: boolean,
): MatrixDtype =>
  areBfloat16 && hidden_size % 2 === 0 && intermediate_size % 2 === 0 ? 'bfloat16' : 'float32'

/** Of the attention kernels (kernels/attention/attention.ts). */
const MAX_HEAD_DIM = 256

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
  if (head_dim > MAX_HEAD_DIM)
    throw new ShapeError(
      `model.head_dim: expected at most ${MAX_HEAD_DIM}, which is what attention holds per token, got ${head_dim}`,
    )
  const hasPairs = [config.dtype, config.activations_dtype].includes('bfloat16')
  for (const name of ['hidden_size', 'intermediate_size'] as const)
    if (hasPairs && config[name] % 2 !== 0)
      throw new ShapeError(
        `model.${name}: expected an even number, as bfloat16 numbers lie in pairs, got ${config[name]}`,
      )
  requireOneAdapter(config)
  requirePositive('rms_norm_eps', config.rms_norm_eps)
  requirePositive('rope_theta', config.rope_theta)
  if (config.rope_scaling) checkScaling(config.rope_scaling)
  return {
    ...config,
    qkvSize: (num_attention_heads + 2 * num_key_value_heads) * head_dim,
    attentionSize: num_attention_heads * head_dim,
    has_qk_norm: config.model_type === 'qwen3',
    hasQkvBias: config.model_type === 'qwen2',
  }
}

/** The model alone, without what is trained beside it. */
export const bareConfig = <T extends ModelConfig>({
  lora: _,
  steering_vectors: __,
  ...config
}: T) => config

function requireOneAdapter({ lora, steering_vectors, num_hidden_layers: L }: ModelConfig): void {
  if (lora && steering_vectors)
    throw new ShapeError('model.steering_vectors: expected none beside a LoRA adapter, got both')
  const missing = steering_vectors?.layers?.find((l) => !(Number.isInteger(l) && l >= 0 && l <= L))
  if (missing !== undefined)
    throw new ShapeError(
      `model.steering_vectors.layers: expected layers from 0 to ${L}, got ${missing}`,
    )
}

function requirePositive(name: string, value: number): void {
  if (!(value > 0 && Number.isFinite(value)))
    throw new ShapeError(`model.${name}: expected a number above 0, got ${value}`)
}

function checkScaling(scaling: Llama3RopeScaling): void {
  const { factor, low_freq_factor, high_freq_factor, original_max_position_embeddings } = scaling
  const at = 'rope_scaling'
  requirePositive(`${at}.low_freq_factor`, low_freq_factor)
  requirePositive(`${at}.high_freq_factor`, high_freq_factor)
  requirePositive(`${at}.original_max_position_embeddings`, original_max_position_embeddings)
  if (!(factor >= 1 && Number.isFinite(factor)))
    throw new ShapeError(`model.${at}.factor: expected a number of at least 1, got ${factor}`)
  if (high_freq_factor <= low_freq_factor)
    throw new ShapeError(
      `model.${at}.high_freq_factor: expected more than low_freq_factor (${low_freq_factor}), got ${high_freq_factor}`,
    )
}

/** Angular frequency of each pair of a head in radians per token, [D/2]: theta^(-2i/D) (Su et al.
 * 2021, arXiv 2104.09864), then the llama3 rule where the config has it. */
export function inverseFrequencies(
  config: Pick<ModelConfig, 'head_dim' | 'rope_theta' | 'rope_scaling'>,
): Float64Array {
  const { head_dim, rope_theta, rope_scaling } = config
  const plain = Float64Array.from(
    { length: head_dim / 2 },
    (_, i) => rope_theta ** ((-2 * i) / head_dim),
  )
  return rope_scaling ? plain.map((frequency) => scaled(frequency, rope_scaling)) : plain
}

/** A pair makes `turns` full turns within the original context. */
function scaled(frequency: number, scaling: Llama3RopeScaling): number {
  const { factor, low_freq_factor: low, high_freq_factor: high } = scaling
  const turns = (scaling.original_max_position_embeddings * frequency) / (2 * Math.PI)
  const kept = Math.min(1, Math.max(0, (turns - low) / (high - low)))
  return (1 - kept) * (frequency / factor) + kept * frequency
}
