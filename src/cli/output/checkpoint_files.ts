// Keeps checkpoints of one run in a folder: DIR/checkpoints/step_000120.safetensors.
import { closeSync, existsSync, openSync, readdirSync, readSync } from 'node:fs'
import { open, readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { CheckpointFiles } from '../../host/checkpoints/file/checkpoint.ts'
import { CHECKPOINT_FORMAT } from '../../host/checkpoints/file/checkpoint_header.ts'
import { CHECKPOINT_FOLDER, fileOf, stepOf } from '../../host/checkpoints/storage/places.ts'
import type { CheckpointEntry } from '../../host/protocol/checkpoint_facts.ts'
import { attempt, type Disk, nodeDisk, UNFINISHED, writeWholeAside } from '../base/disk.ts'

/** Ending of a file that had the name of a checkpoint and does not belong to this run. */
const KEPT = '.kept'
/** Bytes at a time, so that the loop of steps is never away for long. */
const PIECE_BYTES = 2 ** 21
/** Bytes; the header of a checkpoint holds experiment, document and names. */
const LARGEST_HEADER = 2 ** 26

/** Where the checkpoints of a run folder lie. */
export const checkpointFolder = (folder: string): string => join(folder, CHECKPOINT_FOLDER)

/** Whether a file is a checkpoint that was never finished. */
export const isUnfinished = (name: string): boolean =>
  name.endsWith(UNFINISHED) && stepOf(name.slice(0, -UNFINISHED.length)) !== undefined

/** The id of the run that a file is a checkpoint of, by its header alone; undefined where it is no
 * checkpoint of the lab. */
export function checkpointRecord(path: string): string | undefined {
  try {
    const file = openSync(path, 'r')
    try {
      const head = Buffer.alloc(8)
      if (readSync(file, head) < 8) return undefined
      const length = Number(head.readBigUInt64LE())
      if (length > LARGEST_HEADER) return undefined
      const header = Buffer.alloc(length)
      if (readSync(file, header) < length) return undefined
      const { format, record } = JSON.parse(header.toString('utf8')).__metadata__
      return format === CHECKPOINT_FORMAT && typeof record === 'string' ? record : undefined
    } finally {
      closeSync(file)
    }
  } catch {
    return undefined
  }
}

/** Deletes what an earlier process of this run never finished. Only for the process that holds the
 * folder's lock. */
export function clearUnfinished(folder: string): void {
  const own = checkpointFolder(folder)
  for (const name of existsSync(own) ? readdirSync(own) : [])
    if (isUnfinished(name)) nodeDisk.remove(join(own, name))
}

/** The checkpoints of a run folder, which holds one run: it has the id `record`. A file gets its
 * name when all of it is on the disk, so a name always belongs to a whole file, even after a power
 * failure. A file of another run, or one that is no checkpoint, is neither deleted nor written
 * over: it is renamed. */
export function folderFiles(
  folder: string,
  record: string,
  disk: Disk = nodeDisk,
): CheckpointFiles {
  const own = checkpointFolder(folder)
  const path = (step: number) => join(own, fileOf(step))
  return {
    list: async (wanted) => (wanted === undefined || wanted === record ? list(own, record) : []),
    write: async (_record, step, bytes) => {
      disk.makeFolder(own)
      const unfinished = `${path(step)}${UNFINISHED}`
      try {
        await writeThrough(disk, unfinished, bytes)
        if (existsSync(path(step))) setAside(disk, path(step), record)
        disk.rename(unfinished, path(step))
      } catch (error) {
        // A part of a file on a full disk would leave no room for anything else.
        attempt(() => disk.remove(unfinished))
        throw error
      }
      await syncFolder(own)
    },
    read: async (_record, step) => {
      const bytes = await readFile(path(step)).catch(missing)
      return bytes && new Uint8Array(bytes)
    },
    remove: async (_record, steps) => {
      for (const step of steps)
        if (existsSync(path(step)) && !setAside(disk, path(step), record)) disk.remove(path(step))
    },
  }
}

async function list(folder: string, record: string): Promise<CheckpointEntry[]> {
  const entries: CheckpointEntry[] = []
  for (const name of (await readdir(folder).catch(missing)) ?? []) {
    const step = stepOf(name)
    if (step === undefined) continue
    const { size, mtimeMs } = await stat(join(folder, name))
    entries.push({ record, step, bytes: size, written_at: mtimeMs })
  }
  return entries.sort((a, b) => a.step - b.step)
}

/** Undefined for what is not there; any other error stays one. */
function missing(error: unknown): undefined {
  if ((error as { code?: unknown }).code !== 'ENOENT') throw error
}

async function writeThrough(disk: Disk, path: string, bytes: Uint8Array): Promise<void> {
  const file = disk.open(path, 'w')
  try {
    for (let at = 0; at < bytes.length; at += PIECE_BYTES)
      await writeWholeAside(disk, file, bytes.subarray(at, at + PIECE_BYTES))
    await disk.flushAside(file)
  } finally {
    disk.close(file)
  }
}

/** Renames a file that is no checkpoint of this run. False where it is one. */
function setAside(disk: Disk, path: string, record: string): boolean {
  if (checkpointRecord(path) === record) return false
  let kept = `${path}${KEPT}`
  for (let n = 2; existsSync(kept); n++) kept = `${path}${KEPT}_${n}`
  disk.rename(path, kept)
  return true
}

/** Puts the new name on the disk, where the system can: Windows opens no folders. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r').catch(() => undefined)
  await handle?.sync().catch(() => {})
  await handle?.close()
}
