// Keeps the models of a page in the origin-private file system of its browser, from inside the
// worker: only there files grow in place.
import { blobFile } from '../../../formats/ranged_file.ts'
import { isMissing } from '../opfs_folder.ts'
import { type ModelDisk, ModelStore } from './model_store.ts'

const FOLDER = 'models'

/** What workers can do with a file; the types are those of pages. */
interface WorkerFile extends FileSystemFileHandle {
  createSyncAccessHandle(): Promise<SyncAccess>
}

interface SyncAccess {
  getSize(): number
  truncate(size: number): void
  read(bytes: Uint8Array<ArrayBuffer>, options: { readonly at: number }): number
  write(bytes: Uint8Array<ArrayBuffer>, options: { readonly at: number }): number
  flush(): void
  close(): void
}

async function ifThere<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work()
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

/** The folder is asked for each time: somebody may clear the site's data meanwhile. */
function opfsDisk(storage: StorageManager): ModelDisk {
  const root = async () =>
    (await storage.getDirectory()).getDirectoryHandle(FOLDER, { create: true })
  return {
    folders: async () => {
      const found: string[] = []
      for await (const [name, handle] of (await root()).entries())
        if (handle.kind === 'directory') found.push(name)
      return found
    },
    open: (folder, name) =>
      ifThere(async () => {
        const own = await (await root()).getDirectoryHandle(folder)
        return blobFile(await (await own.getFileHandle(name)).getFile())
      }),
    grow: async (folder, name) => {
      const own = await (await root()).getDirectoryHandle(folder, { create: true })
      const handle = (await own.getFileHandle(name, { create: true })) as WorkerFile
      return growing(name, await accessOf(handle, name))
    },
    remove: async (folder) => {
      await ifThere(async () => (await root()).removeEntry(folder, { recursive: true }))
    },
    room: async () => {
      const { quota, usage } = await storage.estimate()
      return quota === undefined ? undefined : quota - (usage ?? 0)
    },
  }
}

async function accessOf(handle: WorkerFile, name: string): Promise<SyncAccess> {
  try {
    return await handle.createSyncAccessHandle()
  } catch {
    throw new Error(`${name} is being written by another tab of this page. Close that one first.`)
  }
}

function growing(name: string, access: SyncAccess) {
  return {
    size: () => access.getSize(),
    read: (begin: number, end: number) => {
      const bytes = new Uint8Array(end - begin)
      access.read(bytes, { at: begin })
      return bytes
    },
    append: (bytes: Uint8Array<ArrayBuffer>) => {
      const at = access.getSize()
      let written = 0
      try {
        written = access.write(bytes, { at })
      } catch {
        // Said below.
      }
      if (written < bytes.length) {
        access.truncate(at)
        throw new Error(
          `The browser has no room left for ${name}. Forget a kept model or free some of the disk, then try again: it continues at byte ${at}.`,
        )
      }
      access.flush()
    },
    empty: () => access.truncate(0),
    close: () => access.close(),
  }
}

/** The hashes of the models that are kept whole, as the page itself can see them; undefined where
 * the browser gives it no storage. */
export async function keptModels(): Promise<ReadonlySet<string> | undefined> {
  try {
    const kept = await new ModelStore(opfsDisk(navigator.storage)).list()
    return new Set(kept.flatMap(({ hash }) => hash ?? []))
  } catch {
    return undefined
  }
}

/** The storage of this worker; undefined where the browser gives it none, as some do in private
 * windows. */
export async function openModelDisk(): Promise<ModelDisk | undefined> {
  try {
    const disk = opfsDisk(navigator.storage)
    const probe = `probe-${crypto.randomUUID()}`
    ;(await disk.grow(probe, 'probe')).close()
    await disk.remove(probe)
    return disk
  } catch {
    return undefined
  }
}
