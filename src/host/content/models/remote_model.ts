// Looks at a model on a server before it is fetched: its files with their sizes, and the small ones
// that say what it is.
import { isObject } from '../../../formats/json.ts'
import type { ModelAddress } from './model_address.ts'
import { INDEX_FILE, type ModelFile, namesOfModel, SOUGHT_FILES, shardsOf } from './model_files.ts'
import { httpFile, type Pause, type RangedGet, refusal, sizeAt } from './ranged_get.ts'

/** A model that was found and not fetched. */
export interface RemoteModel {
  readonly address: ModelAddress
  readonly files: readonly ModelFile[]
}

/** Bytes of a listing at most; one of a thousand files has a quarter of a megabyte. */
const MOST_LISTING = 2 ** 23
/** A file that is larger is no text of a model. */
const MOST_TEXT = 2 ** 26

/** Looks for the files of a model. Throws errors whose messages are sentences. */
export async function findRemote(address: ModelAddress, get: RangedGet): Promise<RemoteModel> {
  const files = address.listing
    ? parseListing(await readListing(address.listing, get))
    : await soughtFiles(address, get)
  const names = namesOfModel(files.map(({ name }) => name))
  const own = files.filter(({ name }) => names.includes(name))
  if (!names.includes('config.json'))
    throw new Error(
      `${address.name} holds no config.json, so it is no model that can be read here.`,
    )
  if (!names.some((name) => name.endsWith('.safetensors')))
    throw new Error(
      `${address.name} holds no weights as safetensors, and no others are read. Look for another revision or a converted copy.`,
    )
  return { address, files: own }
}

async function readListing(address: string, get: RangedGet): Promise<string> {
  const { status, bytes } = await get(address, 0, MOST_LISTING)
  if (status !== 200 && status !== 206)
    throw new Error(refusal(status, 'the list of files', address))
  return new TextDecoder().decode(bytes)
}

/** What the Hub says of the files of a repository. Throws Error for something else. */
export function parseListing(text: string): ModelFile[] {
  let listed: unknown
  try {
    listed = JSON.parse(text)
  } catch {
    throw new Error('The Hub sent something else than a list of files. Try again later.')
  }
  if (!Array.isArray(listed))
    throw new Error('The Hub sent something else than a list of files. Try again later.')
  return listed.filter(isObject).flatMap(({ type, path, size, lfs }): ModelFile[] => {
    if (type !== 'file' || typeof path !== 'string' || path.includes('/')) return []
    if (!Number.isSafeInteger(size) || Number(size) < 0) return []
    const oid = isObject(lfs) ? lfs.oid : undefined
    const isHash = typeof oid === 'string' && /^[0-9a-f]{64}$/.test(oid)
    return [{ name: path, bytes: Number(size), ...(isHash && { sha256: `sha256-${oid}` }) }]
  })
}

/** The files of a folder that nobody lists, by the names that they would have. */
async function soughtFiles({ fileAt }: ModelAddress, get: RangedGet): Promise<ModelFile[]> {
  const found: ModelFile[] = []
  const look = async (name: string) => {
    const bytes = await sizeAt(get, name, fileAt(name))
    if (bytes !== undefined) found.push({ name, bytes })
  }
  for (const name of SOUGHT_FILES) await look(name)
  const index = found.find(({ name }) => name === INDEX_FILE)
  if (index && !found.some(({ name }) => name === 'model.safetensors')) {
    const text = await textOf(get, fileAt(index.name), index)
    for (const shard of shardsOf(text)) await look(shard)
  }
  return found
}

/** A small file as text. */
async function textOf(
  get: RangedGet,
  address: string,
  { name, bytes }: ModelFile,
): Promise<string> {
  if (bytes > MOST_TEXT) throw new Error(`${name} has ${bytes} bytes, which is too much for it.`)
  const file = httpFile({ name, address, size: bytes }, get)
  return new TextDecoder().decode(await file.read(0, bytes))
}

/** The files of a remote model, to be read where they are. */
export const remoteFile = (
  { address }: RemoteModel,
  { name, bytes }: ModelFile,
  get: RangedGet,
  pause?: Pause,
) => httpFile({ name, address: address.fileAt(name), size: bytes }, get, pause)
