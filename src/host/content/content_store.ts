// Keeps files in a folder by their hash: `<hash>` holds the bytes, `<hash>.name` what a person
// calls them.
import { type ContentStore, contentHash, isContentHash } from '../../document/content/content.ts'

/** What a store needs of a folder. Names are letters, digits, '-' and '.'. */
export interface ContentFolder {
  /** Undefined where there is no such file. */
  read(name: string): Promise<Uint8Array<ArrayBuffer> | undefined>
  /** Writes the file whole or not at all. */
  write(name: string, bytes: Uint8Array<ArrayBuffer>): Promise<void>
  list(): Promise<readonly { readonly name: string; readonly bytes: number }[]>
  /** Nothing where there is no such file. */
  remove(name: string): Promise<void>
}

const nameFile = (hash: string) => `${hash}.name`

/** A store over a folder. Its methods throw what the folder throws; texts that are no hashes are
 * not there. */
export function contentStore(folder: ContentFolder): ContentStore {
  const nameOf = async (hash: string): Promise<string> =>
    new TextDecoder().decode((await folder.read(nameFile(hash))) ?? new Uint8Array()) || hash
  return {
    put: async (bytes, name) => {
      const hash = await contentHash(bytes)
      await folder.write(nameFile(hash), new TextEncoder().encode(name))
      // Written again where it is there: what lies there may have been damaged.
      await folder.write(hash, bytes)
      return { hash, name, bytes: bytes.length }
    },
    read: async (hash) => {
      if (!isContentHash(hash)) return undefined
      const bytes = await folder.read(hash)
      if (!bytes || (await contentHash(bytes)) !== hash) return undefined
      return { hash, name: await nameOf(hash), bytes }
    },
    list: async () => {
      const files = (await folder.list()).filter(({ name }) => isContentHash(name))
      return Promise.all(
        files.map(async ({ name: hash, bytes }) => ({ hash, name: await nameOf(hash), bytes })),
      )
    },
    remove: async (hash) => {
      if (!isContentHash(hash)) return
      await folder.remove(hash)
      await folder.remove(nameFile(hash))
    },
  }
}
