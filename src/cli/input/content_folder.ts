// Keeps files that experiments name for later runs of the command line: in the user's cache folder.
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import type { ContentFolder } from '../../host/content/content_store.ts'

/** Where they are: $XDG_CACHE_HOME/understory/content, or ~/.cache/understory/content. */
export const cacheFolder = (): string =>
  join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'understory', 'content')

/** Files of a folder on disk, which is made when the first one is written. Methods throw what the
 * system throws. */
export function diskFolder(folder: string): ContentFolder {
  const ifThere = <T>(work: () => T): T | undefined => {
    try {
      return work()
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
      throw error
    }
  }
  return {
    read: async (name) => ifThere(() => new Uint8Array(readFileSync(join(folder, name)))),
    write: async (name, bytes) => {
      mkdirSync(folder, { recursive: true })
      const unfinished = join(folder, `${name}.${process.pid}.tmp`)
      writeFileSync(unfinished, bytes)
      renameSync(unfinished, join(folder, name))
    },
    list: async () =>
      (ifThere(() => readdirSync(folder)) ?? []).flatMap((name) => {
        const found = ifThere(() => statSync(join(folder, name)))
        return found?.isFile() ? [{ name, bytes: found.size }] : []
      }),
    remove: async (name) => rmSync(join(folder, name), { force: true }),
  }
}
