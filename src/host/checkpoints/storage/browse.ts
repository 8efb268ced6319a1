// Lists the checkpoints of every run for the page, hands out their files, and removes them. The
// worker writes them.
import type { CheckpointEntry } from '../../protocol/checkpoint_facts.ts'
import { CHECKPOINT_FOLDER, fileOf, folderOf, isRecord, stepOf } from './places.ts'

/** Undefined where the browser has no such storage for this page, or nothing was ever kept. */
async function root(): Promise<FileSystemDirectoryHandle | undefined> {
  try {
    const origin = await navigator.storage.getDirectory()
    return await origin.getDirectoryHandle(CHECKPOINT_FOLDER)
  } catch {
    return undefined
  }
}

async function entriesOf(folder: FileSystemDirectoryHandle): Promise<CheckpointEntry[]> {
  const entries: CheckpointEntry[] = []
  for await (const [name, handle] of folder.entries()) {
    const step = stepOf(name)
    if (step === undefined || handle.kind !== 'file') continue
    try {
      const file = await (handle as FileSystemFileHandle).getFile()
      entries.push({ record: folder.name, step, bytes: file.size, written_at: file.lastModified })
    } catch {
      // Removed meanwhile.
    }
  }
  return entries.sort((a, b) => a.step - b.step)
}

/** What is kept, of one run or of all; nothing where there is no such storage. Never throws. */
export async function listCheckpoints(record?: string): Promise<readonly CheckpointEntry[]> {
  const folder = await root()
  if (!folder) return []
  try {
    if (record !== undefined)
      return await entriesOf(await folder.getDirectoryHandle(folderOf(record)))
    const all: CheckpointEntry[] = []
    for await (const handle of folder.values())
      if (handle.kind === 'directory') all.push(...(await entriesOf(handle)))
    return all
  } catch {
    return []
  }
}

/** Removes all that is kept of these runs; ids that no folder can have are passed over. */
export async function removeCheckpoints(records: readonly string[]): Promise<void> {
  const folder = await root()
  for (const record of records.filter(isRecord))
    await folder?.removeEntry(folderOf(record), { recursive: true }).catch(() => {})
}

/** Deletes one checkpoint of a run; nothing where there is none. */
export async function removeCheckpoint(record: string, step: number): Promise<void> {
  const folder = await (await root())?.getDirectoryHandle(folderOf(record)).catch(() => undefined)
  await folder?.removeEntry(fileOf(step)).catch(() => {})
}

/** A kept one as a file; undefined where it is gone. */
export async function checkpointBlob(record: string, step: number): Promise<Blob | undefined> {
  try {
    const folder = await (await root())?.getDirectoryHandle(folderOf(record))
    return await (await folder?.getFileHandle(fileOf(step)))?.getFile()
  } catch {
    return undefined
  }
}
