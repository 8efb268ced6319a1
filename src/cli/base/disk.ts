// Writes files for the command line: one interface, so that tests can let any write fail, and files
// that are there whole or not at all.
import * as fs from 'node:fs'
import { promisify } from 'node:util'

/** What is done to files. Every function throws as node:fs does. */
export interface Disk {
  open(path: string, flags: 'w' | 'a' | 'wx'): number
  /** Bytes that were written, which may be fewer. */
  write(file: number, bytes: Uint8Array): number
  flush(file: number): void
  /** The same two beside the event loop: a step waits for neither. */
  writeAside(file: number, bytes: Uint8Array): Promise<number>
  flushAside(file: number): Promise<void>
  truncate(file: number, size: number): void
  close(file: number): void
  rename(from: string, to: string): void
  /** What is not there is no error. */
  remove(path: string): void
  /** Makes the folders above it too. */
  makeFolder(path: string): void
}

const writeLater = promisify(fs.write)

export const nodeDisk: Disk = {
  open: fs.openSync,
  write: (file, bytes) => fs.writeSync(file, bytes),
  flush: fs.fsyncSync,
  writeAside: async (file, bytes) => (await writeLater(file, bytes)).bytesWritten,
  flushAside: promisify(fs.fsync),
  truncate: fs.ftruncateSync,
  close: fs.closeSync,
  rename: fs.renameSync,
  remove: (path) => fs.rmSync(path, { force: true }),
  makeFolder: (path) => {
    fs.mkdirSync(path, { recursive: true })
  },
}

/** The ending of a file that is being written. A file that still has it was never finished. */
export const UNFINISHED = '.unfinished'

/** Writes all bytes: a disk that fills takes some of them before it refuses. */
export function writeWhole(disk: Disk, file: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length; ) at += wrote(disk.write(file, bytes.subarray(at)))
}

/** The same beside the event loop. */
export async function writeWholeAside(disk: Disk, file: number, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length; ) at += wrote(await disk.writeAside(file, bytes.subarray(at)))
}

function wrote(bytes: number): number {
  if (bytes > 0) return bytes
  throw new Error('the disk takes no more bytes')
}

/** Writes a file atomically: an interrupted write leaves the old file or none, never half of one. A
 * device or pipe is written as it is, and a link keeps its place. */
export function replaceFile(path: string, text: string | Uint8Array, disk: Disk = nodeDisk): void {
  const bytes = typeof text === 'string' ? Buffer.from(text) : text
  const there = statOf(path)
  const target = there?.isFile() ? fs.realpathSync(path) : path
  const unfinished = there && !there.isFile() ? undefined : `${target}${UNFINISHED}`
  try {
    const file = disk.open(unfinished ?? target, 'w')
    try {
      writeWhole(disk, file, bytes)
    } finally {
      disk.close(file)
    }
    if (unfinished) disk.rename(unfinished, target)
  } catch (error) {
    if (unfinished) attempt(() => disk.remove(unfinished))
    throw error
  }
}

/** What a path leads to; undefined where that is nothing, or cannot be reached. */
export function statOf(path: string): fs.Stats | undefined {
  try {
    return fs.statSync(path)
  } catch {
    return undefined
  }
}

/** What went wrong, where something did: for what must not end a run. */
export function attempt(work: () => void): unknown {
  try {
    work()
    return undefined
  } catch (error) {
    return error
  }
}

/** An error in words. */
export const reason = (error: unknown): string =>
  error instanceof Error ? error.message : `${error}`
