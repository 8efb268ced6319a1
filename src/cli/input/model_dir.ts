// A folder on disk as the source of a Hugging Face model.
import { existsSync, statSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import type { FileSource } from '../../model/hf/hf_model.ts'
import { ModelFileError } from '../../model/params/errors.ts'
import { kindOf, leadsOut } from './input_file.ts'

/** One read takes at most this many bytes: Node reads no 2 GiB at once, and shards are larger. */
const READ_BYTES = 2 ** 30

/**
 * The files of `folder`. Throws ModelFileError where it is no folder; `read` does for what is there and cannot be read,
 * and gives undefined for what is not there.
 */
export function modelDirectory(folder: string): FileSource {
  if (!existsSync(folder))
    throw new ModelFileError(folder, 'expected a model directory, found nothing')
  if (!statSync(folder).isDirectory())
    throw new ModelFileError(folder, 'expected a model directory, found a file')
  return {
    async read(name) {
      const path = join(folder, name)
      if (!existsSync(path)) return undefined
      try {
        const found = statSync(path)
        const why = found.isFile() ? leadsOut(folder, name) : kindOf(found)
        if (why !== undefined) throw new Error(why)
        return await readWhole(path)
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error)
        throw new ModelFileError(path, `expected a readable file (${why})`)
      }
    },
  }
}

async function readWhole(path: string): Promise<Uint8Array> {
  const handle = await open(path)
  try {
    const bytes = new Uint8Array((await handle.stat()).size)
    for (let at = 0; at < bytes.length; ) {
      const length = Math.min(READ_BYTES, bytes.length - at)
      const { bytesRead } = await handle.read(bytes, at, length, at)
      if (bytesRead === 0) throw new Error(`${bytes.length} bytes announced, ${at} read`)
      at += bytesRead
    }
    return bytes
  } finally {
    await handle.close()
  }
}
