// Reads and checks Hugging Face's config.json, and refuses it by name where it asks for mathematics
// that is not ours. Source: Hugging Face transformers 4.57 and 5.18,
// models/{llama,qwen2,qwen3}/configuration_*.py and modeling_*.py.

import { ModelFileError, shown } from '../../formats/errors.ts'
import { isObject, type JsonObject } from '../../formats/json.ts'
import {
  type Llama3RopeScaling,
  type ModelConfig,
  type ModelType,
  modelShape,
} from '../layout/config.ts'
import { type Head, paramLayout } from '../layout/params.ts'

/** What a config.json says about a model. */
export interface HfConfig {
  readonly config: ModelConfig
  /** For example Qwen3ForCausalLM; undefined where the file names none. */
  readonly architecture: string | undefined
  /** What the architecture puts on top; lm_head where the file names none. */
  readonly head: Head
  /** Tokens that end a response; empty where the file names none. */
  readonly eos_token_ids: number[]
  readonly pad_token_id: number | undefined
}

/** Weights beyond this are refused before anything of their size is allocated. */
const MOST_WEIGHTS = 4e9

/** The largest sizes accepted: far above real models, far below what would stall a page. */
const LARGEST = {
  vocab_size: 2 ** 22,
  hidden_size: 2 ** 17,
  intermediate_size: 2 ** 19,
  num_hidden_layers: 1024,
  num_attention_heads: 2 ** 12,
  num_key_value_heads: 2 ** 12,
  head_dim: 2 ** 12,
} as const

/** What the names of a family’s classes begin with. */
export const CLASS_PREFIX: Readonly<Record<ModelType, string>> = {
  qwen3: 'Qwen3',
  qwen2: 'Qwen2',
  llama: 'Llama',
}

/** What they end with, by head. */
export const HEAD_OF_CLASS: readonly (readonly [string, Head])[] = [
  ['ForCausalLM', 'lm_head'],
  ['ForTokenClassification', 'value_head'],
  ['ForSequenceClassification', 'reward_head'],
]

/** Checks a parsed config.json; `file` names it in errors. Absent fields take Hugging Face's
 * defaults, except that the sizes of the matrices must be there, and that an absent
 * num_key_value_heads always means num_attention_heads (Qwen's classes say 32; the shapes of the
 * weights tell). Throws ModelFileError naming the field, what was expected and what was found. */
export function parseHfConfig(json: unknown, file: string): HfConfig {
  if (!isObject(json))
    throw new ModelFileError(file, `expected a JSON object, found ${shown(json)}`)
  const model_type = parseModelType(json, file)
  const { architecture, head } = parseArchitecture(json, model_type, file)
  refuseUnsupported(json, model_type, head, file)
  const config = parseSizes(json, model_type, file)
  requireReasonable(config, head, file)
  const pad_token_id = parseTokenId(json.pad_token_id, 'pad_token_id', file)
  if (pad_token_id !== undefined && pad_token_id >= config.vocab_size)
    throw wrong(file, 'pad_token_id', `a token below vocab_size ${config.vocab_size}`, pad_token_id)
  const eosTokenId =
    json.eos_token_id === undefined && model_type === 'llama' ? 2 : json.eos_token_id
  const eos_token_ids = parseTokenIds(eosTokenId, 'eos_token_id', file)
  const padded = pad_token_id === undefined ? config : { ...config, padding_idx: pad_token_id }
  return { config: padded, architecture, head, eos_token_ids, pad_token_id }
}

/** Token ids as Hugging Face writes them: one, a list, null or nothing. Throws ModelFileError. */
export function parseTokenIds(value: unknown, name: string, file: string): number[] {
  if (!Array.isArray(value)) return parseTokenIds([value], name, file)
  const ids = value.map((id) => parseTokenId(id, name, file)).filter((id) => id !== undefined)
  return [...new Set(ids)]
}

/** One token id, or undefined where it is null or absent. Throws ModelFileError. */
export function parseTokenId(value: unknown, name: string, file: string): number | undefined {
  if (value === undefined || value === null) return undefined
  if (isWhole(value) && value >= 0 && value < 2 ** 31) return value
  throw wrong(file, name, 'a token id of at least 0', value)
}

const wrong = (file: string, name: string, expected: string, found: unknown) =>
  new ModelFileError(file, `${name}: expected ${expected}, found ${shown(found)}`)

const isWhole = (value: unknown): value is number => Number.isSafeInteger(value)

function parseModelType({ model_type }: JsonObject, file: string): ModelType {
  if (typeof model_type === 'string' && Object.hasOwn(CLASS_PREFIX, model_type))
    return model_type as ModelType
  throw wrong(file, 'model_type', Object.keys(CLASS_PREFIX).join(', '), model_type)
}

function parseArchitecture(
  { architectures }: JsonObject,
  model_type: ModelType,
  file: string,
): Pick<HfConfig, 'architecture' | 'head'> {
  if (architectures === undefined || architectures === null)
    return { architecture: undefined, head: 'lm_head' }
  const known = HEAD_OF_CLASS.map(([suffix, head]) => ({
    architecture: CLASS_PREFIX[model_type] + suffix,
    head,
  }))
  if (Array.isArray(architectures) && architectures.length === 1) {
    const found = known.find(({ architecture }) => architecture === architectures[0])
    if (found) return found
  }
  const names = known.map(({ architecture }) => architecture).join(', ')
  throw wrong(file, 'architectures', `one of ${names}`, architectures)
}

/** Switches that would change the mathematics. Python counts null as off. */
function refuseUnsupported(
  json: JsonObject,
  model_type: ModelType,
  head: Head,
  file: string,
): void {
  const require = (name: string, allowed: readonly unknown[], expected: string) => {
    const value = json[name]
    if (value !== undefined && value !== null && !allowed.includes(value))
      throw wrong(file, name, expected, value)
  }
  // Qwen2 has its biases whatever the field says.
  if (model_type !== 'qwen2') require('attention_bias', [false], 'false')
  require('mlp_bias', [false], 'false')
  require('use_sliding_window', [false], 'false (full attention)')
  require('is_causal', [true], 'true')
  require('hidden_act', ['silu'], '"silu"')
  require('attention_dropout', [0], '0')
  require('partial_rotary_factor', [1], '1')
  require('quantization_config', [], 'none (weights in F32, F16 or BF16)')
  requireFullAttention(json, file)
  if (head !== 'lm_head') requireOneLabel(json, file)
}

function requireFullAttention({ layer_types, num_hidden_layers }: JsonObject, file: string): void {
  if (layer_types === undefined || layer_types === null) return
  if (!Array.isArray(layer_types) || layer_types.length !== num_hidden_layers)
    throw wrong(file, 'layer_types', `a list of ${shown(num_hidden_layers)} names`, layer_types)
  const other = layer_types.find((type) => type !== 'full_attention')
  if (other !== undefined) throw wrong(file, 'layer_types', '"full_attention" everywhere', other)
}

/** Hugging Face counts the entries of id2label, and takes two labels where nothing is said. */
function requireOneLabel({ id2label, num_labels }: JsonObject, file: string): void {
  const listed = isObject(id2label) ? Object.keys(id2label).length : undefined
  for (const count of [listed, num_labels ?? undefined])
    if (count !== undefined && count !== 1) throw wrong(file, 'num_labels', '1', count)
  if (listed === undefined && (num_labels === undefined || num_labels === null))
    throw wrong(file, 'num_labels', '1, or an id2label of one entry', undefined)
}

function parseSizes(json: JsonObject, model_type: ModelType, file: string): ModelConfig {
  const size = (name: keyof typeof LARGEST, absent?: number) => {
    const value = json[name] ?? absent
    if (isWhole(value) && value >= 1 && value <= LARGEST[name]) return value
    throw wrong(file, name, `a whole number from 1 to ${LARGEST[name]}`, json[name] ?? value)
  }
  const { rms_norm_eps = 1e-6, head_dim } = json
  const tie_word_embeddings = json.tie_word_embeddings ?? false
  if (typeof tie_word_embeddings !== 'boolean')
    throw wrong(file, 'tie_word_embeddings', 'true or false', tie_word_embeddings)
  const hidden_size = size('hidden_size')
  const num_attention_heads = size('num_attention_heads')
  const qwen3Default = model_type === 'qwen3' && head_dim === undefined
  return {
    model_type,
    vocab_size: size('vocab_size'),
    hidden_size,
    intermediate_size: size('intermediate_size'),
    num_hidden_layers: size('num_hidden_layers'),
    num_attention_heads,
    num_key_value_heads: size('num_key_value_heads', num_attention_heads),
    head_dim: size('head_dim', qwen3Default ? 128 : hidden_size / num_attention_heads),
    rms_norm_eps: positive(rms_norm_eps, 'rms_norm_eps', 1, file),
    ...parseRope(json, file),
    tie_word_embeddings,
  }
}

function positive(value: unknown, name: string, largest: number, file: string): number {
  if (typeof value === 'number' && value > 0 && value <= largest) return value
  throw wrong(file, name, `a number above 0 and at most ${largest}`, value)
}

/** Both spellings: rope_theta beside rope_scaling (transformers 4) and rope_parameters with
 * everything in it (5). Where a file carries both they must agree: each version of transformers
 * reads only its own. */
function parseRope(
  json: JsonObject,
  file: string,
): Pick<ModelConfig, 'rope_theta' | 'rope_scaling'> {
  const { rope_theta, rope_scaling, rope_parameters } = json
  const spelled = [
    parseScaling(rope_scaling, 'rope_scaling', file),
    parseScaling(rope_parameters, 'rope_parameters', file),
  ]
  const [scaling, parameters] = spelled
  // A null rope_scaling says "no scaling"; an absent one says nothing.
  const saysBoth = rope_scaling !== undefined && parameters.present
  if (saysBoth && !sameScaling(scaling.value, parameters.value))
    throw new ModelFileError(
      file,
      `rope_scaling: expected what rope_parameters says (${describe(parameters.value)}), ` +
        `found ${describe(scaling.value)}`,
    )
  const thetas = [
    { name: 'rope_theta', value: rope_theta },
    ...spelled.map(({ name, rope_theta }) => ({ name: `${name}.rope_theta`, value: rope_theta })),
  ]
    .filter(({ value }) => value !== undefined && value !== null)
    .map(({ name, value }) => ({ name, value: positive(value, name, 1e15, file) }))
  const [first = { name: '', value: 10_000 }, ...others] = thetas
  for (const { name, value } of others)
    if (value !== first.value)
      throw wrong(file, name, `what ${first.name} says (${first.value})`, value)
  const value = scaling.value ?? parameters.value
  return { rope_theta: first.value, ...(value && { rope_scaling: value }) }
}

interface SpelledScaling {
  readonly name: string
  readonly present: boolean
  readonly rope_theta: unknown
  /** undefined = plain rotary embedding. */
  readonly value: Llama3RopeScaling | undefined
}

function parseScaling(value: unknown, name: string, file: string): SpelledScaling {
  if (value === undefined || value === null)
    return { name, present: false, rope_theta: undefined, value: undefined }
  if (!isObject(value)) throw wrong(file, name, 'an object', value)
  const { rope_type, type, rope_theta, partial_rotary_factor = 1, ...numbers } = value
  if (partial_rotary_factor !== 1)
    throw wrong(file, `${name}.partial_rotary_factor`, '1', partial_rotary_factor)
  if (rope_type !== undefined && type !== undefined && rope_type !== type)
    throw wrong(file, `${name}.type`, `what rope_type says (${shown(rope_type)})`, type)
  const kind = rope_type ?? type ?? (Object.keys(numbers).length ? undefined : 'default')
  if (kind !== 'default' && kind !== 'llama3')
    throw wrong(file, `${name}.rope_type`, '"default" or "llama3"', kind)
  const scaling = kind === 'llama3' ? parseLlama3(numbers, name, file) : undefined
  return { name, present: true, rope_theta, value: scaling }
}

function parseLlama3(json: JsonObject, name: string, file: string): Llama3RopeScaling {
  const number = (field: string, largest: number) =>
    positive(json[field], `${name}.${field}`, largest, file)
  const context = json.original_max_position_embeddings
  if (!isWhole(context))
    throw wrong(file, `${name}.original_max_position_embeddings`, 'a whole number', context)
  return {
    rope_type: 'llama3',
    factor: number('factor', 1e6),
    low_freq_factor: number('low_freq_factor', 1e6),
    high_freq_factor: number('high_freq_factor', 1e6),
    original_max_position_embeddings: number('original_max_position_embeddings', 2 ** 31),
  }
}

const describe = (scaling: Llama3RopeScaling | undefined) =>
  scaling ? `llama3, ${Object.values(scaling).slice(1).join(', ')}` : 'no scaling'

const sameScaling = (a: Llama3RopeScaling | undefined, b: Llama3RopeScaling | undefined) =>
  describe(a) === describe(b)

/** The checks that look at several fields at once, and the size of the whole. */
function requireReasonable(config: ModelConfig, head: Head, file: string): void {
  let count: number
  try {
    count = paramLayout(modelShape(config), head).num_parameters
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new ModelFileError(file, why.replace(/^model\./, ''))
  }
  if (count > MOST_WEIGHTS)
    throw new ModelFileError(file, `expected at most ${MOST_WEIGHTS} weights, found ${count}`)
}
