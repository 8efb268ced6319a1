// Keeps checkpoints in the origin-private file system, from inside the worker: only there files can
// be written in place and flushed.
import { isMissing } from '../../content/opfs_folder.ts'
import type { CheckpointEntry } from '../../protocol/checkpoint_facts.ts'
import type { CheckpointFiles } from '../file/checkpoint.ts'
import { memoryFiles } from './memory_files.ts'
import { CHECKPOINT_FOLDER, fileOf, folderOf, stepOf, TEMPORARY } from './places.ts'

/** What workers can do with a file; the types are those of pages. `move` is missing in some
 * browsers. */
interface WorkerFile extends FileSystemFileHandle {
  move?(name: string): Promise<void>
  createSyncAccessHandle(): Promise<SyncAccess>
}

interface SyncAccess {
  truncate(size: number): void
  write(bytes: Uint8Array<ArrayBuffer>, options: { readonly at: number }): number
  flush(): void
  close(): void
}

const fileIn = async (folder: FileSystemDirectoryHandle, name: string): Promise<WorkerFile> =>
  (await folder.getFileHandle(name, { create: true })) as WorkerFile

/** Writing and flushing block the worker: between two parts a step may go. */
const PART_BYTES = 1 << 21

/** What is written whole before it has its name. Files of another name are left alone. */
async function writeWhole(
  folder: FileSystemDirectoryHandle,
  name: string,
  bytes: Uint8Array<ArrayBuffer>,
): Promise<void> {
  const temporary = `${name}.tmp`
  const handle = await fileIn(folder, temporary)
  const isMovable = handle.move !== undefined
  const target = isMovable ? handle : await fileIn(folder, name)
  try {
    const access = await target.createSyncAccessHandle()
    try {
      access.truncate(0)
      for (let at = 0; at < bytes.length; at += PART_BYTES) {
        const part = bytes.subarray(at, at + PART_BYTES)
        const written = access.write(part, { at })
        if (written < part.length)
          throw new DOMException(
            `Only ${at + written} of ${bytes.length} bytes had room.`,
            'QuotaExceededError',
          )
        access.flush()
        await new Promise((resolve) => setTimeout(resolve))
      }
    } finally {
      access.close()
    }
    // A checksum inside tells a torn file where it had its name from the start.
    await handle.move?.(name)
  } catch (error) {
    await folder.removeEntry(target.name).catch(() => {})
    throw error
  }
  if (!isMovable) await folder.removeEntry(temporary).catch(() => {})
}

async function listFolder(folder: FileSystemDirectoryHandle): Promise<CheckpointEntry[]> {
  const entries: CheckpointEntry[] = []
  const stale: string[] = []
  for await (const [name, handle] of folder.entries()) {
    if (TEMPORARY.test(name)) stale.push(name)
    const step = stepOf(name)
    if (step === undefined || handle.kind !== 'file') continue
    const file = await (handle as FileSystemFileHandle).getFile()
    entries.push({ record: folder.name, step, bytes: file.size, written_at: file.lastModified })
  }
  // One that is being written is locked, and stays.
  for (const name of stale) await folder.removeEntry(name).catch(() => {})
  return entries.sort((a, b) => a.step - b.step)
}

/** Checkpoints below a folder of the origin, a folder each. Where the browser has evicted them, or
 * somebody has cleared the site's data, the next one is written again: `origin` is asked each time,
 * because a folder that was removed can still be written into. */
export function opfsFiles(origin: () => Promise<FileSystemDirectoryHandle>): CheckpointFiles {
  const openRoot = async () =>
    (await origin()).getDirectoryHandle(CHECKPOINT_FOLDER, { create: true })
  const folder = async (record: string) => {
    try {
      return await (await openRoot()).getDirectoryHandle(folderOf(record))
    } catch (error) {
      if (isMissing(error)) return undefined
      throw error
    }
  }
  return {
    list: async (record) => {
      if (record !== undefined) {
        const own = await folder(record)
        return own ? listFolder(own) : []
      }
      const all: CheckpointEntry[] = []
      for await (const handle of (await openRoot()).values())
        if (handle.kind === 'directory') all.push(...(await listFolder(handle)))
      return all
    },
    write: async (record, step, bytes) => {
      const own = await (await openRoot()).getDirectoryHandle(folderOf(record), { create: true })
      await writeWhole(own, fileOf(step), bytes)
    },
    read: async (record, step) => {
      const own = await folder(record)
      try {
        const file = await (await own?.getFileHandle(fileOf(step)))?.getFile()
        return file && new Uint8Array(await file.arrayBuffer())
      } catch (error) {
        if (isMissing(error)) return undefined
        throw error
      }
    },
    remove: async (record, steps) => {
      const own = await folder(record)
      for (const step of own ? steps : [])
        await own?.removeEntry(fileOf(step)).catch((error) => {
          if (!isMissing(error)) throw error
        })
    },
  }
}

/** The storage of this origin; memory, and why, where the browser gives the page none, as some do
 * in private windows. */
export async function openCheckpointFiles(): Promise<{
  readonly files: CheckpointFiles
  readonly whyMemory: string
}> {
  try {
    const origin = () => navigator.storage.getDirectory()
    const root = await (await origin()).getDirectoryHandle(CHECKPOINT_FOLDER, { create: true })
    // Some give a folder and no file in it.
    const probe = await fileIn(root, `probe-${Math.random()}.tmp`)
    ;(await probe.createSyncAccessHandle()).close()
    await root.removeEntry(probe.name)
    return { files: opfsFiles(origin), whyMemory: '' }
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    return { files: memoryFiles(), whyMemory: why || 'unknown error' }
  }
}
