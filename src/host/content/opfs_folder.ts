// Keeps files of a page in the origin-private file system of its browser.
import type { ContentFolder } from './content_store.ts'
import { memoryFolder } from './memory_folder.ts'

const FOLDER = 'content'

/** What the storage throws for a file that is not there. */
export const isMissing = (error: unknown) =>
  error instanceof DOMException && error.name === 'NotFoundError'

/** The folder `content` of the origin, asked for each time: somebody may clear the site's data
 * meanwhile. */
export function opfsFolder(origin: () => Promise<FileSystemDirectoryHandle>): ContentFolder {
  const open = async () => (await origin()).getDirectoryHandle(FOLDER, { create: true })
  const ifThere = async <T>(work: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await work()
    } catch (error) {
      if (isMissing(error)) return undefined
      throw error
    }
  }
  return {
    read: (name) =>
      ifThere(async () => {
        const file = await (await (await open()).getFileHandle(name)).getFile()
        return new Uint8Array(await file.arrayBuffer())
      }),
    write: async (name, bytes) => {
      const handle = await (await open()).getFileHandle(name, { create: true })
      // The file has its old contents until `close`.
      const stream = await handle.createWritable()
      try {
        await stream.write(bytes)
        await stream.close()
      } catch (error) {
        await stream.abort().catch(() => {})
        throw error
      }
    },
    list: async () => {
      const found: { name: string; bytes: number }[] = []
      for await (const [name, handle] of (await open()).entries())
        if (handle.kind === 'file') {
          const file = await ifThere(() => (handle as FileSystemFileHandle).getFile())
          if (file) found.push({ name, bytes: file.size })
        }
      return found
    },
    remove: async (name) => {
      await ifThere(async () => (await open()).removeEntry(name))
    },
  }
}

/** The storage of this page; memory where the browser gives it none, as some do in private
 * windows. */
export async function pageFolder(): Promise<ContentFolder> {
  const folder = opfsFolder(() => navigator.storage.getDirectory())
  try {
    // Some browsers have folders and files that cannot be written here.
    await folder.write('probe', new Uint8Array(1))
    await folder.remove('probe')
    return folder
  } catch {
    return memoryFolder()
  }
}
