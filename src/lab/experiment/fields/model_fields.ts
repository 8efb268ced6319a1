// The fields of the model: Hugging Face names, and the ranges that a browser can train.
import { TARGET_MODULES } from '../../../model/adapter/lora.ts'
import type {
  LoraConfig,
  MatrixDtype,
  ModelConfig,
  ModelType,
} from '../../../model/params/config.ts'
import { boolean, integer, number, select, type Tree, text } from './field.ts'

/** The most layers that a model may have. */
export const MAX_LAYERS = 48

/** The most tokens that a vocabulary may have. */
export const MAX_VOCABULARY = 200_000

/** PEFT's LoraConfig; lists are text here, as a form has them. */
export interface LoraFields {
  /** 0 = no adapter. */
  readonly r: number
  readonly lora_alpha: number
  readonly use_rslora: boolean
  /** 'all-linear', or names of modules with commas. */
  readonly target_modules: string
  /** Whole numbers with commas, counted from 0; '' = all. */
  readonly layers_to_transform: string
  /** The hash of the adapter whose factors a run begins with; '' = fresh ones from the seed. */
  readonly source: string
  readonly source_name: string
}

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
  /** -1 = none. */
  readonly padding_idx: number
  /** verl's `model.enable_gradient_checkpointing`. */
  readonly enable_gradient_checkpointing: boolean
  /** 0 = as many as the task has. A model may have more: its embedding is rounded up. */
  readonly vocab_size: number
  /** The hash of the model whose weights a run begins with; '' = random ones from the seed. */
  readonly source: string
  readonly source_name: string
  /** Where the model can be fetched: hf:owner/name@revision, or the address of a folder; '' = nobody said. */
  readonly source_address: string
  /** Of matrices that are not trained. */
  readonly dtype: MatrixDtype
  readonly lora: LoraFields
}

const ALL_LINEAR = 'all-linear'
/** The names in a list with commas. */
export const namesOf = (list: string): string[] =>
  list
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
const LAYERS = /^\s*(\d{1,3}\s*(,\s*\d{1,3}\s*)*)?$/

/** Whether a list names modules that an adapter can have: short names, or whole paths as PEFT writes few of them. */
function namesModules(list: string): boolean {
  if (list.trim() === ALL_LINEAR) return true
  const names = namesOf(list)
  const isModule = (name: string) =>
    /^(model\.layers\.\d+\.(self_attn|mlp)\.)?\w+$/.test(name) &&
    (TARGET_MODULES as readonly string[]).includes(name.split('.').at(-1) ?? '')
  return names.length > 0 && names.every(isModule)
}

/** The adapter as the model's config has it; undefined where there is none. */
export function loraOf({
  r,
  target_modules,
  layers_to_transform,
  source: _,
  source_name: __,
  ...fields
}: LoraFields): LoraConfig | undefined {
  if (r === 0) return undefined
  const layers = namesOf(layers_to_transform).map(Number)
  const is_all = target_modules.trim() === ALL_LINEAR
  return {
    ...fields,
    r,
    target_modules: is_all ? ALL_LINEAR : namesOf(target_modules),
    layers_to_transform: layers.length > 0 ? layers : null,
  }
}

/** A fresh adapter's settings as an experiment writes them. */
export const loraFields = ({
  target_modules,
  layers_to_transform,
  ...lora
}: LoraConfig): LoraFields => ({
  ...lora,
  target_modules: typeof target_modules === 'string' ? target_modules : target_modules.join(),
  layers_to_transform: layers_to_transform?.join() ?? '',
  ...{ source: '', source_name: '' },
})

/** The model of these fields, for a task with so many tokens. */
export function modelConfig(fields: ModelFields, tokens: number): ModelConfig {
  const { enable_gradient_checkpointing: _, ...model } = fields
  const { source: __, source_name: ___, source_address: ____, ...kept } = model
  const { padding_idx, vocab_size, dtype, lora: lora_fields, ...sizes } = kept
  const lora = loraOf(lora_fields)
  return {
    ...sizes,
    ...(padding_idx >= 0 && { padding_idx }),
    ...(dtype !== 'float32' && { dtype }),
    ...(lora && { lora }),
    vocab_size: Math.max(vocab_size, tokens),
  }
}

/** Characters of `source_name`. */
const MOST_NAME = 120
/** Characters of an address. */
const MOST_ADDRESS = 400
/** The field of a hash. */
const hashField = (label: string, help: string) =>
  text(
    { label, help, default: '', max: 'sha256-'.length + 64 },
    {
      holds: (hash) => hash === '' || /^sha256-[0-9a-f]{64}$/.test(hash),
      expected: 'nothing, or sha256- and 64 hexadecimal digits',
    },
  )

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
    help: 'The token whose embedding does not learn where it is an input, as Hugging Face has it for pad_token_id; -1 = none.',
    default: -1,
    min: -1,
    max: MAX_VOCABULARY - 1,
  }),
  enable_gradient_checkpointing: boolean({
    label: 'Recompute activations',
    help: 'Whether the backward pass computes activations again instead of keeping them: less memory, more time, same numbers.',
    default: false,
  }),
  vocab_size: integer({
    label: 'Rows of the embedding',
    help: 'Tokens that the model has room for; 0 = as many as the task has. A model from elsewhere may have more.',
    default: 0,
    min: 0,
    max: MAX_VOCABULARY,
    unit: 'tokens',
  }),
  source: hashField(
    'Begins with',
    'The hash of the opened model whose weights a run begins with; empty = random weights from the seed.',
  ),
  source_name: text({
    label: 'Its name',
    help: 'What a person calls the model that a run begins with; the hash alone decides which one it is. A name without a hash: the model is to be opened first.',
    default: '',
    max: MOST_NAME,
  }),
  source_address: text({
    label: 'Its address',
    help: 'Where the model that a run begins with can be fetched: hf:owner/name@revision or a folder; empty = from nowhere.',
    default: '',
    max: MOST_ADDRESS,
  }),
  dtype: select(
    {
      label: 'Frozen matrices',
      help: 'How matrices that are not trained lie in GPU memory: bfloat16 takes half and rounds what has more digits.',
    },
    { float32: 'float32', bfloat16: 'bfloat16' },
  ),
  lora: {
    r: integer({
      label: 'LoRA rank',
      help: 'Rank of a LoRA adapter that is trained on a frozen model in place of its weights; 0 = no adapter.',
      default: 0,
      min: 0,
      max: 256,
    }),
    lora_alpha: number({
      label: 'LoRA alpha',
      help: 'What the adapter adds is multiplied by alpha / rank.',
      default: 16,
      min: 0.01,
      max: 1024,
    }),
    use_rslora: boolean({
      label: 'Rank-stabilised scale',
      help: 'Whether the adapter is scaled by alpha / √rank in place of alpha / rank.',
      default: false,
    }),
    target_modules: text(
      {
        label: 'Adapted modules',
        help: 'Which matrices the adapter changes: all-linear, or names with commas, such as q_proj,v_proj.',
        default: ALL_LINEAR,
        max: 4000,
      },
      {
        holds: namesModules,
        expected: `all-linear, or names with commas out of ${TARGET_MODULES.join(', ')}`,
      },
    ),
    layers_to_transform: text(
      {
        label: 'Adapted layers',
        help: 'Layers that have an adapter, with commas, counted from 0 as PEFT counts them; empty = all.',
        default: '',
        max: 100,
      },
      {
        holds: (list) => LAYERS.test(list),
        expected: 'nothing or whole numbers from 0 on, with commas',
      },
    ),
    source: hashField(
      'Adapter begins with',
      'The hash of the opened adapter whose factors a run begins with; empty = fresh ones, which change nothing.',
    ),
    source_name: text({
      label: 'Its name',
      help: 'What a person calls the adapter that a run begins with; the hash alone decides which one it is.',
      default: '',
      max: MOST_NAME,
    }),
  },
}
