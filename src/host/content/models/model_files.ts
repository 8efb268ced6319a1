// Says which files make a model, and names them together: a list with the size and SHA-256 of each,
// and the hash of that list, by which an experiment names the model.

import { foreignText, foreignWords } from '../../../formats/first_bytes.ts'
import { SHARD_NAME } from '../../../formats/located.ts'
import type { RangedFile, RangedFolder } from '../../../formats/ranged_file.ts'
import { Sha256 } from '../../../formats/sha256.ts'
import { TOKENIZER_FILES } from '../../../tasks/tokenizers/hugging_face/tokenizer_files.ts'

/** A file of a model, as far as it is known. */
export interface ModelFile {
  readonly name: string
  readonly bytes: number
  /** `sha256-…`; undefined until it has been read whole or its server has said it. */
  readonly sha256?: string | undefined
}

export const CONFIG_FILE = 'config.json'
export const INDEX_FILE = 'model.safetensors.index.json'
const SINGLE_FILE = 'model.safetensors'
const SMALL_FILES: readonly string[] = [CONFIG_FILE, ...TOKENIZER_FILES]
/** Most shards of an index or a listing: far above any model's. */
const MOST_SHARDS = 1000

/** Names to look for where a folder has no listing; the shards of an index come on top. */
export const SOUGHT_FILES: readonly string[] = [...SMALL_FILES, SINGLE_FILE, INDEX_FILE]

/** Of a folder's names those that make a model: its weights once, as one file or as shards with
 * their index. */
export function namesOfModel(all: readonly string[]): readonly string[] {
  const small = SMALL_FILES.filter((name) => all.includes(name))
  if (all.includes(SINGLE_FILE)) return [...small, SINGLE_FILE]
  const shards = all.filter((name) => /^model-\d+-of-\d+\.safetensors$/.test(name))
  return all.includes(INDEX_FILE) ? [...small, INDEX_FILE, ...shards] : small
}

/** The shards that an index names. Throws RangeError for a text that is no index. */
export function shardsOf(text: string): readonly string[] {
  let weightMap: unknown
  try {
    weightMap = JSON.parse(text).weight_map
  } catch {
    const found = foreignText(text)
    throw new RangeError(
      `${INDEX_FILE}: expected JSON, found ${found ? foreignWords(found) : 'something else'}`,
    )
  }
  const names = typeof weightMap === 'object' && weightMap ? Object.values(weightMap) : []
  const shards = [...new Set(names)]
  const areNames = shards.every((name) => typeof name === 'string' && SHARD_NAME.test(name))
  if (shards.length === 0 || shards.length > MOST_SHARDS || !areNames)
    throw new RangeError(
      `${INDEX_FILE}: expected weight_map to name files of this folder, found other things`,
    )
  return shards as string[]
}

/** The hash by which a model is named. Throws RangeError where a file's own is not known. */
export function modelHash(files: readonly ModelFile[]): string {
  const hash = new Sha256()
  hash.update(new TextEncoder().encode(modelList(files)))
  return hash.digest()
}

/** The list that the hash is of. Throws RangeError where a file's own hash is not known. */
export function modelList(files: readonly ModelFile[]): string {
  const listed = files.map(({ name, bytes, sha256 }) => {
    if (sha256 === undefined) throw new RangeError(`${name}: expected its SHA-256`)
    return { name, bytes, sha256 }
  })
  listed.sort((a, b) => (a.name < b.name ? -1 : 1))
  return JSON.stringify(listed)
}

/** A file that hashes what is read of it. In order, nothing is read twice. */
export function hashedFile(file: RangedFile): RangedFile & { digest(): Promise<string> } {
  const hash = new Sha256()
  const upTo = async (end: number) => {
    while (hash.bytes < end)
      hash.update(await file.read(hash.bytes, Math.min(end, hash.bytes + GAP_BYTES)))
  }
  return {
    ...file,
    read: async (begin, end) => {
      await upTo(Math.min(begin, file.size))
      const bytes = await file.read(begin, end)
      const at = hash.bytes
      if (at < end) hash.update(bytes.subarray(at - begin))
      return bytes
    },
    digest: async () => {
      await upTo(file.size)
      return hash.digest()
    },
  }
}

const GAP_BYTES = 2 ** 22

/** A folder that hashes what is opened in it. */
export function hashedFolder(
  folder: RangedFolder,
): RangedFolder & { files(): Promise<ModelFile[]> } {
  const opened = new Map<string, Promise<ReturnType<typeof hashedFile> | undefined>>()
  return {
    open: (name) => {
      const own = opened.get(name) ?? folder.open(name).then((file) => file && hashedFile(file))
      opened.set(name, own)
      return own
    },
    files: async () => {
      const found: ModelFile[] = []
      for (const [name, opening] of opened) {
        const file = await opening
        if (file) found.push({ name, bytes: file.size, sha256: await file.digest() })
      }
      return found
    },
  }
}
