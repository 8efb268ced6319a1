// Locates the tensors of a model: in one safetensors file, or in shards that an index lists.

import { ModelFileError, shown } from './errors.ts'
import { CONVERT, foreignFile, foreignWords, HEAD_BYTES } from './first_bytes.ts'
import { isObject, type JsonObject } from './json.ts'
import type { RangedFolder } from './ranged_file.ts'
import { openRanged, type PlacedTensor, type RangedSafetensors } from './weight_stream.ts'

const SINGLE = 'model.safetensors'
const INDEX = 'model.safetensors.index.json'

/** Plain names of safetensors files; nothing that could lead out of the directory. */
export const SHARD_NAME = /^[A-Za-z0-9_][A-Za-z0-9_.-]*\.safetensors$/

/** Buffers in old checkpoints that Hugging Face computes itself. */
export const isHarmless = (name: string) => name.endsWith('rotary_emb.inv_freq')

/** Tensors by name, each in the open file that holds it. */
export type Located = ReadonlyMap<string, RangedSafetensors>

export function placedIn(located: Located, name: string): PlacedTensor | undefined {
  const file = located.get(name)
  const entry = file?.entries.get(name)
  return file && entry && { name, file, entry }
}

/** Opens every file of weights once and reads its header. Throws ModelFileError. `file` is what a
 * missing tensor is missing from. */
export async function locate(
  folder: RangedFolder,
  readJson: (name: string) => Promise<JsonObject | undefined>,
): Promise<{ located: Located; file: string }> {
  const single = await folder.open(SINGLE)
  if (single) {
    const opened = await openRanged(single)
    const names = [...opened.entries.keys()]
    return { located: new Map(names.map((name) => [name, opened])), file: SINGLE }
  }
  const index = await readJson(INDEX)
  if (!index)
    throw new ModelFileError(
      SINGLE,
      `expected this file or ${INDEX}, found ${await otherWeights(folder)}`,
    )
  return { located: await openShards(folder, parseIndex(index)), file: INDEX }
}

/** Names under which weights of other kinds are kept. */
const OTHER_WEIGHTS = [
  'pytorch_model.bin',
  'pytorch_model.bin.index.json',
  'pytorch_model-00001-of-00002.bin',
  'consolidated.00.pth',
  'pytorch_model.pt',
  'model.pt',
  'model.gguf',
  'ggml-model-f16.gguf',
  'model.onnx',
  'tf_model.h5',
  'flax_model.msgpack',
]

/** What is there in place of safetensors, and what to do. */
async function otherWeights(folder: RangedFolder): Promise<string> {
  for (const name of OTHER_WEIGHTS) {
    const file = await folder.open(name)
    if (!file) continue
    const head = await file.read(0, Math.min(HEAD_BYTES, file.size))
    const found = foreignFile(head, file.size)
    return found ? `${name}, ${foreignWords(found)}` : `${name}; ${CONVERT}`
  }
  return 'neither (only safetensors are read)'
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
  folder: RangedFolder,
  shardOf: ReadonlyMap<string, string>,
): Promise<Located> {
  const shards = new Map<string, RangedSafetensors>()
  for (const [name, shard] of shardOf) {
    if (shards.has(shard)) continue
    const found = await folder.open(shard)
    if (!found)
      throw new ModelFileError(
        shard,
        `expected a file with tensor ${shown(name)} (${INDEX}), found none`,
      )
    shards.set(shard, await openRanged(found))
  }
  const located = new Map<string, RangedSafetensors>()
  for (const [name, shard] of shardOf) {
    const opened = shards.get(shard)
    if (!opened?.entries.has(name))
      throw new ModelFileError(shard, `tensor ${shown(name)}: expected by ${INDEX}, found nothing`)
    located.set(name, opened)
  }
  for (const [shard, { entries }] of shards)
    for (const name of entries.keys())
      if (shardOf.get(name) !== shard && !isHarmless(name))
        throw new ModelFileError(
          shard,
          `tensor ${shown(name)}: expected in ${shardOf.get(name) ?? 'no file'} by ${INDEX}, found here`,
        )
  return located
}
