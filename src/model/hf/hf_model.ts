// A Hugging Face model directory, read into the flat layout: config.json, generation_config.json and safetensors, in one
// file or in shards.
import { type ModelConfig, modelShape } from '../params/config.ts'
import {
  isObject,
  type JsonObject,
  ModelFileError,
  parseJsonObject,
  shown,
} from '../params/errors.ts'
import { type Head, type ParamLayout, paramLayout } from '../params/params.ts'
import { type HfConfig, parseHfConfig, parseTokenId, parseTokenIds } from './hf_config.ts'
import { readFloats } from './safetensors.ts'
import { type Dtype, type OpenSafetensors, openSafetensors } from './safetensors_header.ts'

/** Where the files of a directory come from: a folder, an upload, a map in a test. */
export interface FileSource {
  /** The whole file, or undefined where there is none. `name` is a plain file name. */
  read(name: string): Promise<Uint8Array | undefined>
}

export interface HfModel {
  readonly config: ModelConfig
  readonly head: Head
  readonly layout: ParamLayout
  /** In the flat layout. */
  readonly weights: Float32Array<ArrayBuffer>
  /** Tokens that end a response; generation_config.json wins over config.json. */
  readonly eos_token_ids: number[]
  readonly pad_token_id?: number
  /** What the embedding was stored in. */
  readonly dtype: Dtype
}

const CONFIG = 'config.json'
const GENERATION = 'generation_config.json'
const SINGLE = 'model.safetensors'
const INDEX = 'model.safetensors.index.json'
const EMBEDDING = 'model.embed_tokens.weight'
const LM_HEAD = 'lm_head.weight'

/** Bytes; the index of a model within our reach is far smaller, and nested brackets are slow to parse. */
const LARGEST_JSON = 2 ** 23

/** Plain names of safetensors files; nothing that could lead out of the directory. */
const SHARD_NAME = /^[A-Za-z0-9_][A-Za-z0-9_.-]*\.safetensors$/

/** Buffers in old checkpoints that Hugging Face computes itself. */
const isHarmless = (name: string) => name.endsWith('rotary_emb.inv_freq')

/** Tensors by name, each in the open file that holds it. */
type Located = ReadonlyMap<string, OpenSafetensors>

/**
 * Reads and checks a model. `options.head` is what the caller needs; by default the directory decides. Nothing of the size
 * of the model is allocated before every tensor has been found in its right shape.
 * Throws ModelFileError naming file and tensor, what was expected and what was found.
 */
export async function readHfModel(
  source: FileSource,
  options: { readonly head?: Head } = {},
): Promise<HfModel> {
  const json = await readJson(source, CONFIG)
  if (!json) throw new ModelFileError(CONFIG, 'expected a file, found none')
  const parsed = parseHfConfig(json, CONFIG)
  const head = chooseHead(parsed, options.head)
  const tokens = await readTokens(source, parsed)
  const { located, file } = await openWeights(source)
  const layout = paramLayout(modelShape(parsed.config), head)
  requireParams(layout, located, file)
  const weights = fillWeights(layout, located, file)
  requireTied(layout, located, weights)
  const dtype = located.get(EMBEDDING)?.entries.get(EMBEDDING)?.dtype ?? 'F32'
  return { config: parsed.config, head, layout, weights, ...tokens, dtype }
}

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

/** Opens every file of weights once. `file` is what a missing tensor is missing from. */
async function openWeights(source: FileSource): Promise<{ located: Located; file: string }> {
  const single = await source.read(SINGLE)
  if (single) {
    const opened = openSafetensors(single, SINGLE)
    const names = [...opened.entries.keys()]
    return { located: new Map(names.map((name) => [name, opened])), file: SINGLE }
  }
  const index = await readJson(source, INDEX)
  if (!index)
    throw new ModelFileError(
      SINGLE,
      `expected this file or ${INDEX}, found neither (only safetensors are read)`,
    )
  return { located: await openShards(source, parseIndex(index)), file: INDEX }
}

/** Tensor names to shard names. */
function parseIndex({ weight_map }: JsonObject): ReadonlyMap<string, string> {
  if (!isObject(weight_map))
    throw new ModelFileError(INDEX, `weight_map: expected an object, found ${shown(weight_map)}`)
  const shards = new Map<string, string>()
  for (const [name, shard] of Object.entries(weight_map)) {
    if (typeof shard !== 'string' || !SHARD_NAME.test(shard))
      throw new ModelFileError(
        INDEX,
        `tensor ${shown(name)}: expected the name of a .safetensors file in this directory, found ${shown(shard)}`,
      )
    shards.set(name, shard)
  }
  return shards
}

async function openShards(
  source: FileSource,
  shard_of: ReadonlyMap<string, string>,
): Promise<Located> {
  const shards = new Map<string, OpenSafetensors>()
  for (const [name, shard] of shard_of) {
    if (shards.has(shard)) continue
    const bytes = await source.read(shard)
    if (!bytes)
      throw new ModelFileError(
        shard,
        `expected a file with tensor ${shown(name)} (${INDEX}), found none`,
      )
    shards.set(shard, openSafetensors(bytes, shard))
  }
  const located = new Map<string, OpenSafetensors>()
  for (const [name, shard] of shard_of) {
    const opened = shards.get(shard)
    if (!opened?.entries.has(name))
      throw new ModelFileError(shard, `tensor ${shown(name)}: expected by ${INDEX}, found nothing`)
    located.set(name, opened)
  }
  for (const [shard, { entries }] of shards)
    for (const name of entries.keys())
      if (shard_of.get(name) !== shard && !isHarmless(name))
        throw new ModelFileError(
          shard,
          `tensor ${shown(name)}: expected in ${shard_of.get(name) ?? 'no file'} by ${INDEX}, found here`,
        )
  return located
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

function fillWeights(
  layout: ParamLayout,
  located: Located,
  file: string,
): Float32Array<ArrayBuffer> {
  const weights = allocate(layout.size, file)
  for (const { name, offset, size } of layout.params) {
    const opened = located.get(name)
    if (opened) readFloats(opened, name, weights.subarray(offset, offset + size))
  }
  return weights
}

function allocate(size: number, file: string): Float32Array<ArrayBuffer> {
  try {
    return new Float32Array(size)
  } catch {
    throw new ModelFileError(
      file,
      `expected ${size * 4} bytes of free memory for its weights, found less`,
    )
  }
}

/** A tied model has one matrix; a second one in the file must not say anything else. */
function requireTied(layout: ParamLayout, located: Located, weights: Float32Array): void {
  const opened = located.get(LM_HEAD)
  const embedding = layout.params.find(({ name }) => name === EMBEDDING)
  if (!opened || !embedding || !isTied(layout)) return
  const lm_head = allocate(embedding.size, opened.file)
  readFloats(opened, LM_HEAD, lm_head)
  const first = lm_head.findIndex((x, i) => !Object.is(x, weights[embedding.offset + i]))
  if (first >= 0)
    throw new ModelFileError(
      opened.file,
      `tensor ${shown(LM_HEAD)}: expected the values of ${EMBEDDING} (tie_word_embeddings), ` +
        `found ${lm_head[first]} instead of ${weights[embedding.offset + first]} at element ${first}`,
    )
}
