// Makes models as Hugging Face saves them, for tests of reading them.

import type { FloatDtype } from '../../formats/safetensors_header.ts'
import { writeSafetensors } from '../../formats/safetensors_write.ts'
import { type ModelConfig, modelShape } from '../layout/config.ts'
import { type Head, initialWeights, paramLayout } from '../layout/params.ts'
import { TINY } from '../testing.ts'
import { parseHfConfig } from './hf_config.ts'
import { type FileSource, readHfModel } from './hf_model.ts'

/** A config with every field that is read, and some that are not. */
export const QWEN3 = {
  architectures: ['Qwen3ForCausalLM'],
  attention_bias: false,
  attention_dropout: 0.0,
  bos_token_id: 1,
  eos_token_id: 2,
  head_dim: 16,
  hidden_act: 'silu',
  hidden_size: 32,
  intermediate_size: 48,
  layer_types: ['full_attention', 'full_attention', 'full_attention'],
  max_window_layers: 28,
  model_type: 'qwen3',
  num_attention_heads: 4,
  num_hidden_layers: 3,
  num_key_value_heads: 2,
  pad_token_id: 0,
  quantization_config: null,
  rms_norm_eps: 1e-5,
  rope_scaling: null,
  rope_theta: 1e6,
  sliding_window: null,
  tie_word_embeddings: true,
  use_sliding_window: false,
  vocab_size: 24,
}

/** What must be there in a config. */
export const BARE = {
  hidden_size: 32,
  intermediate_size: 48,
  num_attention_heads: 4,
  num_hidden_layers: 3,
  vocab_size: 24,
}

export const parseConfig = (json: unknown) => parseHfConfig(json, 'config.json')

export type Files = Map<string, Uint8Array>
export type Named = Map<string, { shape: readonly number[]; data: ArrayLike<number> }>

const CLASSES: Record<Head, string> = {
  lm_head: 'ForCausalLM',
  value_head: 'ForTokenClassification',
  reward_head: 'ForSequenceClassification',
}
const PREFIX = { qwen3: 'Qwen3', qwen2: 'Qwen2', llama: 'Llama' }
export const SHARDS = ['model-00001-of-00002.safetensors', 'model-00002-of-00002.safetensors']
export const INDEX = 'model.safetensors.index.json'

export const bytesOf = (json: unknown) => new TextEncoder().encode(JSON.stringify(json))

/** A model as Hugging Face saves it, and its weights in the flat layout. */
export function savedModel(config: ModelConfig = TINY, head: Head = 'lm_head', seed = 1) {
  const layout = paramLayout(modelShape(config), head)
  const flat = initialWeights(layout, seed)
  // initialWeights pads with zeros; packing drops nothing else.
  const named: Named = new Map(
    layout.params.map(({ name, shape, offset, size }) => [
      name,
      { shape, data: flat.slice(offset, offset + size) },
    ]),
  )
  const json = {
    ...config,
    architectures: [PREFIX[config.model_type] + CLASSES[head]],
    eos_token_id: 2,
    ...(head === 'lm_head' ? {} : { id2label: { 0: 'LABEL_0' } }),
  }
  return { layout, flat, named, json }
}

export function directory(json: unknown, named: Named, dtype?: FloatDtype): Files {
  return new Map([
    ['config.json', bytesOf(json)],
    ['model.safetensors', writeSafetensors(named, { format: 'pt' }, dtype)],
  ])
}

/** Every other tensor in the second shard. */
export function sharded(json: unknown, named: Named): Files {
  const parts = [0, 1].map((part) => [...named].filter((_, i) => i % 2 === part))
  const weight_map = Object.fromEntries(
    parts.flatMap((part, i) => part.map(([name]) => [name, SHARDS[i]])),
  )
  return new Map([
    ['config.json', bytesOf(json)],
    [INDEX, bytesOf({ metadata: { total_size: 1 }, weight_map })],
    ...parts.map((part, i) => [SHARDS[i], writeSafetensors(part)] as const),
  ])
}

export function source(files: Files): FileSource & { readonly asked: string[] } {
  const asked: string[] = []
  return {
    asked,
    read: async (name) => {
      asked.push(name)
      return files.get(name)
    },
  }
}

export const readModel = (files: Files, head?: Head) =>
  readHfModel(source(files), head ? { head } : {})

/** With some files replaced, or taken away. */
export const but = (files: Files, changes: Record<string, Uint8Array | undefined>): Files =>
  new Map(
    Object.entries({ ...Object.fromEntries(files), ...changes }).filter(
      (file): file is [string, Uint8Array] => file[1] !== undefined,
    ),
  )
