// Reads files that a person names: whole, and nothing but files. A pipe without a writer would be
// waited for without end.
import { closeSync, openSync, readFileSync, readSync, realpathSync, type Stats } from 'node:fs'
import { basename, dirname, join, sep } from 'node:path'
import { LabFailure } from '../base/command.ts'
import { reason, statOf } from '../base/disk.ts'

/** What something is that is no file, in words. */
export function kindOf(found: Stats): string {
  if (found.isDirectory()) return 'a folder'
  if (found.isFIFO()) return 'a pipe'
  if (found.isSocket()) return 'a socket'
  return found.isFile() ? 'a file' : 'a device'
}

/** The bytes of a file. Throws LabFailure for anything else, or where it cannot be read. */
export function readInput(path: string): Buffer {
  const found = statOf(path)
  if (found && !found.isFile())
    throw new LabFailure(`${path}: expected a file, found ${kindOf(found)}`)
  try {
    return readFileSync(path)
  } catch (error) {
    throw new LabFailure(`${path}: ${reason(error)}`)
  }
}

/** Its first bytes: files of weights are larger than memory. Throws LabFailure as `readInput`
 * does. */
export function readHead(path: string, most: number): Buffer {
  if (!statOf(path)?.isFile()) return readInput(path)
  const handle = openSync(path, 'r')
  try {
    const head = Buffer.alloc(most)
    return head.subarray(0, readSync(handle, head, 0, most, 0))
  } finally {
    closeSync(handle)
  }
}

/** Its text, without the byte order mark that some editors write. */
export const readText = (path: string): string => withoutMark(readInput(path).toString('utf8'))

export const withoutMark = (text: string): string =>
  text.charCodeAt(0) === 0xfeff ? text.slice(1) : text

/** A JSON file. Throws LabFailure with the file's name. */
export function readJson(path: string): unknown {
  const text = readText(path)
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new LabFailure(`${path}: ${reason(error)}`)
  }
}

/** Why a file of a model folder is not read: a link may not lead out of the folder, into what its
 * sender should not learn of. Undefined where it may be read, or is not there. Hugging Face's cache
 * keeps the files of `snapshots/<revision>` in `blobs` beside it, which is part of the model. */
export function leadsOut(folder: string, name: string): string | undefined {
  try {
    const home = realpathSync(folder)
    const target = realpathSync(join(folder, name))
    const isSnapshot = basename(dirname(home)) === 'snapshots'
    const homes = [home, ...(isSnapshot ? [join(dirname(dirname(home)), 'blobs')] : [])]
    if (homes.some((own) => target.startsWith(own + sep))) return undefined
    return 'a link that leads out of the folder; put the file itself there'
  } catch {
    return undefined
  }
}
