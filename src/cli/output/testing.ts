// Makes disks that fill or fail, and the places where checkpoints lie, for tests.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { CheckpointFiles } from '../../host/checkpoints/file/checkpoint.ts'
import { memoryFiles } from '../../host/checkpoints/storage/memory_files.ts'
import { opfsFiles } from '../../host/checkpoints/storage/opfs.ts'
import { madeUpOrigin } from '../../host/checkpoints/storage/testing.ts'
import { type Disk, nodeDisk } from '../base/disk.ts'
import { folderFiles } from './checkpoint_files.ts'

const noSpace = () =>
  Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' })

/** As it is, but for waiting until bytes have left the system's memory. */
const quickDisk: Disk = { ...nodeDisk, flush: () => {}, flushAside: async () => {} }

/** A disk of so many bytes. A write takes what there is room for, and the next one is refused. */
export function smallDisk(
  capacity: number,
): Disk & { readonly used: () => number; limit(capacity: number): void } {
  const sizes = new Map<string, number>()
  const paths = new Map<number, string>()
  let room = capacity
  const used = () => [...sizes.values()].reduce((a, b) => a + b, 0)
  const of = (file: number) => paths.get(file) ?? ''
  const take = (file: number, bytes: Uint8Array) => {
    const taken = bytes.subarray(0, Math.max(0, room - used()))
    if (taken.length === 0) throw noSpace()
    sizes.set(of(file), (sizes.get(of(file)) ?? 0) + taken.length)
    return taken
  }
  return {
    ...quickDisk,
    used,
    limit: (bytes) => {
      room = bytes
    },
    open: (path, flags) => {
      const file = nodeDisk.open(path, flags)
      paths.set(file, path)
      if (flags !== 'a') sizes.set(path, 0)
      return file
    },
    write: (file, bytes) => nodeDisk.write(file, take(file, bytes)),
    writeAside: async (file, bytes) => nodeDisk.writeAside(file, take(file, bytes)),
    truncate: (file, size) => {
      nodeDisk.truncate(file, size)
      sizes.set(of(file), size)
    },
    rename: (from, to) => {
      nodeDisk.rename(from, to)
      sizes.set(to, sizes.get(from) ?? 0)
      sizes.delete(from)
    },
    remove: (path) => {
      nodeDisk.remove(path)
      sizes.delete(path)
    },
  }
}

/** A disk where each operation but closing and deleting fails when `fails` says so of its
 * number. */
export function brokenDisk(
  fails: (operation: number) => boolean,
): Disk & { readonly count: () => number } {
  let operations = 0
  const may = () => {
    if (fails(++operations)) throw new Error('EIO: i/o error')
  }
  const guarded =
    <A extends unknown[], R>(work: (...args: A) => R) =>
    (...args: A): R => {
      may()
      return work(...args)
    }
  return {
    ...quickDisk,
    count: () => operations,
    open: guarded(nodeDisk.open),
    write: guarded(nodeDisk.write),
    flush: guarded(quickDisk.flush),
    writeAside: async (file, bytes) => {
      may()
      return nodeDisk.writeAside(file, bytes)
    },
    flushAside: async (file) => {
      may()
      return quickDisk.flushAside(file)
    },
    truncate: guarded(nodeDisk.truncate),
    rename: guarded(nodeDisk.rename),
    makeFolder: guarded(nodeDisk.makeFolder),
  }
}

/** Somewhere that checkpoints of the run 'run' lie, empty at first. */
interface Place {
  readonly files: CheckpointFiles
  /** From now on all files together may take so many bytes. */
  limit(bytes: number): void
  close(): void
}

function memory(): Place {
  const own = memoryFiles()
  let room = Number.POSITIVE_INFINITY
  const write: CheckpointFiles['write'] = async (record, step, bytes) => {
    const all = await own.list()
    const used = all.reduce((sum, entry) => sum + entry.bytes, 0)
    if (used + bytes.length > room) throw new DOMException('no room', 'QuotaExceededError')
    await own.write(record, step, bytes)
  }
  const limit = (bytes: number) => {
    room = bytes
  }
  return { files: { ...own, write }, limit, close: () => {} }
}

function browser(): Place {
  const origin = madeUpOrigin()
  const limit = (bytes: number) => {
    origin.room = bytes
  }
  return { files: opfsFiles(async () => origin.root), limit, close: () => {} }
}

function folder(): Place {
  const own = mkdtempSync(join(tmpdir(), 'understory-place-'))
  const disk = smallDisk(Number.POSITIVE_INFINITY)
  const close = () => rmSync(own, { recursive: true })
  return { files: folderFiles(own, 'run', disk), limit: disk.limit, close }
}

/** All places where the lab keeps checkpoints, by name. */
export const PLACES: Readonly<Record<string, () => Place>> = { memory, browser, folder }
