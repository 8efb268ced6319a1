// Writes a model as the folder that transformers, verl, TRL and vLLM load: the opposite of
// hf_model.ts.

import { jsonFile, type OutFile, textFile } from '../../formats/out_file.ts'
import { safetensorsPieces, type WrittenTensor } from '../../formats/safetensors_write.ts'
import {
  CHAT_TEMPLATE,
  tokenizerConfig,
  tokenizerJson,
  type Vocabulary,
} from '../../formats/write_tokenizer.ts'
import type { ModelConfig } from '../layout/config.ts'
import type { Param } from '../layout/flat_params.ts'
import type { ParamLayout } from '../layout/params.ts'
import { generationConfig, hfConfig } from './write_config.ts'

/** A model to be written. */
export interface WrittenModel {
  readonly config: ModelConfig
  /** Of `config`, with the head that the model has. */
  readonly layout: ParamLayout
  /** In the flat layout. */
  readonly weights: Float32Array
  readonly vocabulary: Vocabulary
  /** Tokens of prompt and response together at most. */
  readonly max_position_embeddings: number
}

/** Bytes of one file of weights at most: what Hugging Face's hub and older readers take without
 * trouble. */
const SHARD_BYTES = 2e9

/** The files of a model's folder. A tied head is left out, as Hugging Face does. Weights above
 * `shardBytes` lie in several files with an index. Nothing of the size of the model is copied.
 * Throws RangeError where the weights are not of the layout. */
export function modelFiles(model: WrittenModel, shardBytes = SHARD_BYTES): OutFile[] {
  const { config, layout, weights, vocabulary, max_position_embeddings } = model
  if (weights.length !== layout.size)
    throw new RangeError(`weights: expected ${layout.size} values, got ${weights.length}`)
  // An embedding from elsewhere may be rounded up; the lab's own never is.
  const hasAll = vocabulary.tokens.length === config.vocab_size
  if (!hasAll && !(vocabulary.files && vocabulary.tokens.length < config.vocab_size))
    throw new RangeError(
      `tokenizer: expected ${config.vocab_size} tokens as the model has, got ${vocabulary.tokens.length}`,
    )
  return [
    jsonFile('config.json', hfConfig(config, layout.head, vocabulary, max_position_embeddings)),
    ...(layout.head === 'lm_head'
      ? [jsonFile('generation_config.json', generationConfig(vocabulary))]
      : []),
    ...tokenizerFiles(vocabulary, max_position_embeddings),
    ...weightFiles(layout.params, weights, shardBytes),
  ]
}

/** generation_config.json lists the end tokens again, so that of the tokenizer's folder is left
 * out. */
function tokenizerFiles(vocabulary: Vocabulary, modelMaxLength: number): OutFile[] {
  const { files } = vocabulary
  if (!files)
    return [
      jsonFile('tokenizer.json', tokenizerJson(vocabulary)),
      jsonFile('tokenizer_config.json', tokenizerConfig(vocabulary, modelMaxLength)),
      textFile('chat_template.jinja', CHAT_TEMPLATE),
    ]
  const { 'generation_config.json': _, ...own } = files
  const hasTemplate =
    'chat_template.jinja' in own || own['tokenizer_config.json']?.includes('"chat_template"')
  const written = hasTemplate ? own : { ...own, 'chat_template.jinja': CHAT_TEMPLATE }
  return Object.entries(written).flatMap(([path, text]) =>
    text === undefined ? [] : [textFile(path, text)],
  )
}

/** model.safetensors, or the shards of it and their index. */
function weightFiles(
  params: readonly Param[],
  weights: Float32Array,
  shardBytes: number,
): OutFile[] {
  const shards = shardsOf(params, shardBytes)
  const file = (path: string, own: readonly Param[]): OutFile => ({
    path,
    pieces: {
      [Symbol.iterator]: () => safetensorsPieces(own.map((param) => tensorOf(param, weights))),
    },
  })
  if (shards.length === 1) return [file('model.safetensors', shards[0])]
  const five = (n: number) => String(n).padStart(5, '0')
  const nameOf = (shard: number) => `model-${five(shard + 1)}-of-${five(shards.length)}.safetensors`
  const weight_map = Object.fromEntries(
    shards.flatMap((own, shard) => own.map(({ name }) => [name, nameOf(shard)])),
  )
  const total_size = params.reduce((bytes, { size }) => bytes + 4 * size, 0)
  return [
    jsonFile('model.safetensors.index.json', { metadata: { total_size }, weight_map }),
    ...shards.map((own, shard) => file(nameOf(shard), own)),
  ]
}

/** Parameters in order, a new shard where the next one would make it too large. */
function shardsOf(params: readonly Param[], shardBytes: number): Param[][] {
  const shards: Param[][] = [[]]
  let bytes = 0
  for (const param of params) {
    const own = 4 * param.size
    if (bytes > 0 && bytes + own > shardBytes) {
      shards.push([])
      bytes = 0
    }
    shards[shards.length - 1].push(param)
    bytes += own
  }
  return shards
}

const tensorOf = (
  { name, shape, offset, size }: Param,
  weights: Float32Array,
): [string, WrittenTensor] => [name, { shape, data: weights.subarray(offset, offset + size) }]
