// Opens a Hugging Face model directory: config.json, generation_config.json and safetensors, in one
// file or in shards. Its weights are read piece by piece into wherever they are needed, or whole
// into the flat layout.

import { ModelFileError, parseJsonObject, shown } from '../../formats/errors.ts'
import type { JsonObject } from '../../formats/json.ts'
import { isHarmless, type Located, locate, placedIn } from '../../formats/located.ts'
import { bytesFile, type RangedFolder, readSmall } from '../../formats/ranged_file.ts'
import type { Dtype } from '../../formats/safetensors_header.ts'
import {
  type LoadOptions,
  requireSame,
  streamTensors,
  type WeightSink,
} from '../../formats/weight_stream.ts'
import { exactDtype, type MatrixDtype, type ModelConfig, modelShape } from '../layout/config.ts'
import { type Head, type ParamLayout, paramLayout } from '../layout/params.ts'
import { type HfConfig, parseHfConfig, parseTokenId, parseTokenIds } from './hf_config.ts'

/** Where the files of a directory come from: a folder, an upload, a map in a test. */
export interface FileSource {
  /** The whole file, or undefined where there is none. `name` is a plain file name. */
  read(name: string): Promise<Uint8Array | undefined>
}

/** What is known of a model without its weights. */
export interface HfFacts {
  readonly config: ModelConfig
  readonly head: Head
  readonly layout: ParamLayout
  /** Tokens that end a response; generation_config.json wins over config.json. */
  readonly eos_token_ids: number[]
  readonly pad_token_id?: number
  /** What the embedding was stored in. */
  readonly dtype: Dtype
}

/** A model whose files have been checked and whose weights have not been read yet. */
export interface OpenHfModel extends HfFacts {
  /** Of its parameters, in its files. */
  readonly weightBytes: number
  /** The smallest in which all of its matrices lie in GPU memory as they are. */
  readonly exactDtype: MatrixDtype
  /** Writes every parameter into a sink, once. Throws ModelFileError, and what source and sink
   * throw. */
  load(sink: WeightSink, options?: LoadOptions): Promise<void>
}

export interface HfModel extends HfFacts {
  /** In the flat layout. */
  readonly weights: Float32Array<ArrayBuffer>
}

const CONFIG = 'config.json'
const GENERATION = 'generation_config.json'
const EMBEDDING = 'model.embed_tokens.weight'
const LM_HEAD = 'lm_head.weight'

/** Bytes; the index of a model within our reach is far smaller, and nested brackets are slow to
 * parse. */
const LARGEST_JSON = 2 ** 23

/** Checks a model: config, tokens, and that every tensor is there in its right shape.
 * `options.head` is what the caller needs; by default the directory decides. No weights are read.
 * Throws ModelFileError naming file and tensor, what was expected and what was found. */
export async function openHfModel(
  folder: RangedFolder,
  options: { readonly head?: Head } = {},
): Promise<OpenHfModel> {
  const source = smallFiles(folder)
  const json = await readJson(source, CONFIG)
  if (!json) throw new ModelFileError(CONFIG, 'expected a file, found none')
  const parsed = parseHfConfig(json, CONFIG)
  const head = chooseHead(parsed, options.head)
  const tokens = await readTokens(source, parsed)
  const { located, file } = await locate(folder, (name) => readJson(source, name))
  const layout = paramLayout(modelShape(parsed.config), head)
  requireParams(layout, located, file)
  const placed = layout.params.flatMap(({ name }) => placedIn(located, name) ?? [])
  const dtype = placedIn(located, EMBEDDING)?.entry.dtype ?? 'F32'
  return {
    config: parsed.config,
    head,
    layout,
    ...tokens,
    dtype,
    exactDtype: exactDtype(
      parsed.config,
      placed.every(({ entry }) => entry.dtype === 'BF16' || entry.shape.length < 2),
    ),
    weightBytes: placed.reduce((bytes, { entry }) => bytes + entry.end - entry.begin, 0),
    load: async (sink, options) => {
      await streamTensors(placed, sink, options)
      await requireTied(layout, located, options)
    },
  }
}

/** The same with the weights in memory. Nothing of their size is allocated before the model has
 * been checked. */
export async function readHfModel(
  source: FileSource,
  options: { readonly head?: Head } = {},
): Promise<HfModel> {
  const {
    weightBytes: _,
    exactDtype: __,
    load,
    ...facts
  } = await openHfModel(wholeFiles(source), options)
  const weights = allocate(facts.layout.size)
  await load(flatSink(facts.layout, weights))
  return { ...facts, weights }
}

/** Writes into the flat layout. */
export function flatSink(layout: ParamLayout, weights: Float32Array): WeightSink {
  const offsets = new Map(layout.params.map(({ name, offset }) => [name, offset]))
  return {
    write: (param, offset, values) => weights.set(values, (offsets.get(param) ?? 0) + offset),
  }
}

/** Files that are read whole, as ranges of them. */
const wholeFiles = (source: FileSource): RangedFolder => ({
  open: async (name) => {
    const bytes = await source.read(name)
    return bytes && bytesFile(name, bytes as Uint8Array<ArrayBuffer>)
  },
})

/** JSON files of a folder of ranges. */
const smallFiles = (folder: RangedFolder): FileSource => ({
  read: async (name) => {
    const file = await folder.open(name)
    if (!file) return undefined
    try {
      return await readSmall(file, LARGEST_JSON)
    } catch (error) {
      throw error instanceof RangeError ? new ModelFileError(name, error.message) : error
    }
  },
})

/** A JSON file of a directory; undefined where there is none. Throws ModelFileError. */
export async function readJson(source: FileSource, name: string): Promise<JsonObject | undefined> {
  const bytes = await source.read(name)
  if (bytes && bytes.length > LARGEST_JSON)
    throw new ModelFileError(
      name,
      `expected at most ${LARGEST_JSON} bytes of JSON, found ${bytes.length}`,
    )
  return bytes && parseJsonObject(bytes, name)
}

function chooseHead({ architecture, head }: HfConfig, wanted: Head | undefined): Head {
  if (wanted !== undefined && architecture !== undefined && wanted !== head)
    throw new ModelFileError(
      CONFIG,
      `architectures: expected a model with a ${wanted}, found ${architecture} with a ${head}`,
    )
  return wanted ?? head
}

async function readTokens(
  source: FileSource,
  { config, eos_token_ids, pad_token_id }: HfConfig,
): Promise<Pick<HfModel, 'eos_token_ids' | 'pad_token_id'>> {
  const json = (await readJson(source, GENERATION)) ?? {}
  const eos = parseTokenIds(json.eos_token_id, 'eos_token_id', GENERATION)
  const pad = parseTokenId(json.pad_token_id, 'pad_token_id', GENERATION)
  if (pad !== undefined && pad >= config.vocab_size)
    throw new ModelFileError(
      GENERATION,
      `pad_token_id: expected a token below vocab_size ${config.vocab_size}, found ${pad}`,
    )
  const padding = pad_token_id ?? pad
  return {
    eos_token_ids: eos.length ? eos : eos_token_ids,
    ...(padding !== undefined && { pad_token_id: padding }),
  }
}

/** Every parameter is there in its shape, and nothing else is. */
function requireParams(layout: ParamLayout, located: Located, file: string): void {
  for (const { name, shape } of layout.params) requireShape(located, name, shape, file)
  const known = new Set(layout.params.map(({ name }) => name))
  for (const [name, opened] of located) {
    if (known.has(name) || isHarmless(name)) continue
    if (name === LM_HEAD && isTied(layout)) {
      requireShape(located, name, [layout.shape.vocab_size, layout.shape.hidden_size], file)
      continue
    }
    const { model_type } = layout.shape
    throw new ModelFileError(
      opened.file,
      `tensor ${shown(name)}: expected the tensors of a ${model_type} with a ${layout.head}, found this one too`,
    )
  }
}

const isTied = ({ head, shape }: ParamLayout) => head === 'lm_head' && shape.tie_word_embeddings

function requireShape(
  located: Located,
  name: string,
  shape: readonly number[],
  file: string,
): void {
  const opened = located.get(name)
  const entry = opened?.entries.get(name)
  if (!opened || !entry)
    throw new ModelFileError(file, `tensor ${shown(name)}: expected ${shown(shape)}, found nothing`)
  if (entry.shape.length !== shape.length || entry.shape.some((n, i) => n !== shape[i]))
    throw new ModelFileError(
      opened.file,
      `tensor ${shown(name)}: expected ${shown(shape)}, found ${shown(entry.shape)}`,
    )
}

function allocate(size: number): Float32Array<ArrayBuffer> {
  try {
    return new Float32Array(size)
  } catch {
    throw new ModelFileError(
      CONFIG,
      `expected ${size * 4} bytes of free memory for its weights, found less`,
    )
  }
}

/** A tied model has one matrix; a second one in the file must not say anything else. */
async function requireTied(
  layout: ParamLayout,
  located: Located,
  options?: LoadOptions,
): Promise<void> {
  const [copy, original] = [placedIn(located, LM_HEAD), placedIn(located, EMBEDDING)]
  if (copy && original && isTied(layout))
    await requireSame(copy, original, 'tie_word_embeddings', options)
}
