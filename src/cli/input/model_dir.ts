// Offers a folder on disk as the source of a Hugging Face model: whole files, or ranges of them.
import { existsSync, statSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { ModelFileError } from '../../formats/errors.ts'
import { foreignFile, foreignWords, HEAD_BYTES } from '../../formats/first_bytes.ts'
import type { RangedFolder } from '../../formats/ranged_file.ts'
import type { FileSource } from '../../model/hf/hf_model.ts'
import { kindOf, leadsOut, readHead } from './input_file.ts'

/** One read takes at most this many bytes: Node reads no 2 GiB at once, and shards are larger. */
const READ_BYTES = 2 ** 30

/** The files of `folder`. Throws ModelFileError where it is no folder; `read` does for what is
 * there and cannot be read, and gives undefined for what is not there. */
export function modelDirectory(folder: string): FileSource {
  requireFolder(folder)
  return {
    read: async (name) => {
      const path = join(folder, name)
      return existsSync(path) ? readable(folder, name, () => readWhole(path)) : undefined
    },
  }
}

/** The same as ranges: a file is opened for each of them, so that nothing is held. */
export function modelRanges(folder: string): RangedFolder {
  requireFolder(folder)
  return {
    open: async (name) => {
      const path = join(folder, name)
      if (!existsSync(path)) return undefined
      const { size } = await readable(folder, name, async () => statSync(path))
      return {
        name,
        size,
        read: (begin, end) => readable(folder, name, () => readRange(path, begin, end)),
      }
    },
  }
}

function requireFolder(folder: string): void {
  if (!existsSync(folder))
    throw new ModelFileError(folder, 'expected a model directory, found nothing')
  if (!statSync(folder).isDirectory())
    throw new ModelFileError(
      folder,
      `expected a model directory, found ${foreign(folder) ?? 'a file'}`,
    )
}

/** What a file is in place of a folder, where that says what to do. */
function foreign(path: string): string | undefined {
  const found = foreignFile(readHead(path, HEAD_BYTES), statSync(path).size)
  return found && foreignWords(found)
}

async function readable<T>(folder: string, name: string, read: () => Promise<T>): Promise<T> {
  const path = join(folder, name)
  try {
    const found = statSync(path)
    const why = found.isFile() ? leadsOut(folder, name) : kindOf(found)
    if (why !== undefined) throw new Error(why)
    return await read()
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new ModelFileError(path, `expected a readable file (${why})`)
  }
}

const readWhole = (path: string) => readRange(path, 0, statSync(path).size)

async function readRange(path: string, begin: number, end: number) {
  const handle = await open(path)
  try {
    const bytes = new Uint8Array(end - begin)
    for (let at = 0; at < bytes.length; ) {
      const length = Math.min(READ_BYTES, bytes.length - at)
      const { bytesRead } = await handle.read(bytes, at, length, begin + at)
      if (bytesRead === 0) throw new Error(`${bytes.length} bytes announced, ${at} read`)
      at += bytesRead
    }
    return bytes
  } finally {
    await handle.close()
  }
}
