// Declares the fields of the model: Hugging Face names, and the ranges that a browser can train.
import type { MatrixDtype, ModelConfig, ModelType } from '../../../model/layout/config.ts'
import { boolean, integer, number, select, type Tree, text } from '../../../rl/fields/field.ts'
import { LENSES, type LensFields } from './lens_fields.ts'
import { hashField, LORA, type LoraFields, loraOf, SOURCE_NAME } from './lora_fields.ts'
import { VECTORS, type VectorFields, vectorsOf } from './vectors_fields.ts'

/** The most layers that a model may have. */
export const MAX_LAYERS = 48

/** The most tokens that a vocabulary may have. */
export const MAX_VOCABULARY = 200_000

/** Hugging Face `config.json` names. */
export interface ModelFields {
  readonly model_type: ModelType
  readonly hidden_size: number
  readonly num_hidden_layers: number
  readonly num_attention_heads: number
  readonly num_key_value_heads: number
  readonly head_dim: number
  readonly intermediate_size: number
  readonly tie_word_embeddings: boolean
  readonly rms_norm_eps: number
  readonly rope_theta: number
  readonly padding_idx: number | null
  /** verl's `model.enable_gradient_checkpointing`. */
  readonly enable_gradient_checkpointing: boolean
  /** Of what blocks keep for the backward pass. */
  readonly activations_dtype: MatrixDtype
  /** null = as many as the task has. A model may have more: its embedding is rounded up. */
  readonly vocab_size: number | null
  /** The hash of the model whose weights a run begins with; null = random ones from the seed. */
  readonly source: string | null
  readonly source_name: string | null
  /** Where the model can be fetched: hf:owner/name@revision, or the address of a folder; null
   * = nobody said. */
  readonly source_address: string | null
  /** Of matrices that are not trained. */
  readonly dtype: MatrixDtype
  readonly lora: LoraFields
  readonly steering_vectors: VectorFields
  readonly lenses: LensFields
}

/** The model of these fields, for a task with so many tokens. */
export function modelConfig(fields: ModelFields, tokens: number): ModelConfig {
  const { enable_gradient_checkpointing: _, ...model } = fields
  const { source: __, source_name: ___, source_address: ____, ...kept } = model
  const { padding_idx, activations_dtype, lora: adapter, steering_vectors, ...rest } = kept
  const { lenses: _____, ...sizes } = rest
  const lora = loraOf(adapter)
  const vectors = vectorsOf(steering_vectors)
  return {
    ...withTokens(sizes, tokens),
    ...(padding_idx !== null && { padding_idx }),
    ...(activations_dtype !== 'float32' && { activations_dtype }),
    ...(lora && { lora }),
    ...(vectors && { steering_vectors: vectors }),
  }
}

/** Whether a run trains something beside its weights: an adapter or vectors. */
export const hasAdapter = ({ model }: { readonly model: ModelFields }): boolean =>
  loraOf(model.lora) !== undefined || vectorsOf(model.steering_vectors) !== undefined

/** Sizes with room for the tokens of the task. */
export const withTokens = <T extends Pick<ModelFields, 'vocab_size' | 'dtype'>>(
  { vocab_size, dtype, ...sizes }: T,
  tokens: number,
) => ({
  ...sizes,
  ...(dtype !== 'float32' && { dtype }),
  vocab_size: Math.max(vocab_size ?? 0, tokens),
})

/** Characters of an address. */
export const MOST_ADDRESS = 400

/** The `model` section. */
export const MODEL: Tree<ModelFields> = {
  model_type: select(
    { label: 'Architecture', help: 'Which family of transformer the blocks follow.' },
    { qwen3: 'Qwen3', qwen2: 'Qwen2', llama: 'Llama' },
  ),
  hidden_size: integer({
    label: 'Width',
    help: 'Channels of the residual stream.',
    default: 64,
    min: 8,
    max: 1024,
    step: 8,
    unit: 'channels',
  }),
  num_hidden_layers: integer({
    label: 'Layers',
    help: 'Blocks of attention and feed-forward; each one has its own policy.',
    default: 6,
    min: 1,
    max: MAX_LAYERS,
    unit: 'layers',
  }),
  num_attention_heads: integer({
    label: 'Attention heads',
    help: 'Query heads of every layer.',
    default: 4,
    min: 1,
    max: 32,
    unit: 'heads',
  }),
  num_key_value_heads: integer({
    label: 'Key-value heads',
    help: 'Heads that keys and values are computed for; fewer than query heads = grouped attention.',
    default: 4,
    min: 1,
    max: 32,
    unit: 'heads',
  }),
  head_dim: integer({
    label: 'Head width',
    help: 'Channels of one head; even, because rotary positions turn channels in pairs.',
    default: 16,
    min: 2,
    max: 128,
    step: 2,
    unit: 'channels',
  }),
  intermediate_size: integer({
    label: 'Feed-forward width',
    help: 'Channels inside the feed-forward part of every layer.',
    default: 168,
    min: 8,
    max: 8192,
    step: 8,
    unit: 'channels',
  }),
  tie_word_embeddings: boolean({
    label: 'Tied embeddings',
    help: 'Whether one matrix both reads tokens in and scores tokens out.',
    default: true,
  }),
  rms_norm_eps: number({
    label: 'Norm epsilon',
    help: 'Added under the square root of every norm, so that it never divides by 0.',
    default: 0.000001,
    min: 1e-8,
    max: 0.01,
    scale: 'log',
  }),
  rope_theta: number({
    label: 'Rotary base',
    help: 'Base of the rotary position angles; larger = slower turning.',
    default: 10000,
    min: 10,
    max: 10000000,
    scale: 'log',
  }),
  padding_idx: integer({
    label: 'Untrained input token',
    help: 'The token whose embedding does not learn where it is an input, as Hugging Face has it for pad_token_id; none = every one learns.',
    default: null,
    none: -1,
    min: 0,
    max: MAX_VOCABULARY - 1,
  }),
  enable_gradient_checkpointing: boolean({
    label: 'Recompute activations',
    help: 'Whether the backward pass computes activations again instead of keeping them: less memory, more time, same numbers.',
    default: false,
  }),
  activations_dtype: select(
    {
      label: 'Kept activations',
      help: 'What blocks keep for the backward pass in: bfloat16 takes about half the memory and rounds gradients, not what the model says.',
    },
    { float32: 'float32', bfloat16: 'bfloat16' },
  ),
  vocab_size: integer({
    label: 'Rows of the embedding',
    help: 'Tokens that the model has room for; none = as many as the task has. A model from elsewhere may have more.',
    default: null,
    none: 0,
    min: 1,
    max: MAX_VOCABULARY,
    unit: 'tokens',
  }),
  source: hashField(
    'Begins with',
    'The hash of the opened model whose weights a run begins with; none = random weights from the seed.',
  ),
  source_name: SOURCE_NAME,
  source_address: text({
    label: 'Its address',
    help: 'Where the model that a run begins with can be fetched: hf:owner/name@revision or a folder; none = from nowhere.',
    default: null,
    none: '',
    max: MOST_ADDRESS,
  }),
  dtype: select(
    {
      label: 'Frozen matrices',
      help: 'How matrices that are not trained lie in GPU memory: bfloat16 takes half and rounds what has more digits.',
    },
    { float32: 'float32', bfloat16: 'bfloat16' },
  ),
  lora: LORA,
  steering_vectors: VECTORS,
  lenses: LENSES,
}
