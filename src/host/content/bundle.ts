// Writes and reads a bundle: one .zip with an experiment and every file that it names, for a
// machine that has none of them.
import { strFromU8, strToU8, Unzip, UnzipInflate, zipSync } from 'fflate'
import {
  ContentError,
  type ContentFile,
  contentHash,
  isContentHash,
  MAX_CONTENT_BYTES,
} from '../../document/content/content.ts'
import { contentNames, type NamingDocument } from './named.ts'

const EXPERIMENT = 'experiment.json'
const FOLDER = 'content/'
/** What can be opened by itself of a folder that the page has packed. */
const TO_UNPACK = /^[^/]+\/(metrics\.csv|experiment\.json|understory\.json)$/
/** The earliest date that a zip knows, so that the same bundle has the same bytes. */
const MADE = new Date(1980, 0, 1)
const MOST_DOCUMENT = 1_000_000
const MOST_FILES = 32
const TOO_MUCH = 'found more than one may hold'

/** The bytes of a bundle. Throws ContentError where a file that the document names is not among
 * `files`. */
export function writeBundle(
  document: NamingDocument,
  files: readonly ContentFile[],
): Uint8Array<ArrayBuffer> {
  const named = contentNames(document).map(({ hash, name }) => {
    const file = files.find((one) => one.hash === hash)
    if (!file)
      throw new ContentError(`${name} (${hash}) is not here, so it cannot go into a bundle`)
    return [`${FOLDER}${hash}`, file.bytes] as const
  })
  const text = strToU8(`${JSON.stringify(document, null, 2)}\n`)
  const entries = Object.fromEntries([[EXPERIMENT, text] as const, ...named])
  return new Uint8Array(zipSync(entries, { mtime: MADE, level: 6 }))
}

/** What a bundle holds: the document, not checked yet, and its files under the names that the
 * document has for them. */
export interface Bundle {
  readonly document: unknown
  readonly files: readonly ContentFile[]
}

/** Unpacks a bundle, which can take seconds. Throws ContentError for
 * a .zip that is no bundle, that is too large, or whose files are not what their names say. */
export async function readBundle(file: string, bytes: Uint8Array<ArrayBuffer>): Promise<Bundle> {
  const others: string[] = []
  const entries = unpacked(file, bytes, others)
  const text = entries[EXPERIMENT]
  if (!text) throw new ContentError(noBundle(file, others))
  let document: unknown
  try {
    document = JSON.parse(strFromU8(text))
  } catch {
    throw new ContentError(`${file}: ${EXPERIMENT} is no JSON`)
  }
  const names = new Map(namesIn(document).map(({ hash, name }) => [hash, name]))
  const files: ContentFile[] = []
  for (const [path, content] of Object.entries(entries)) {
    if (path === EXPERIMENT) continue
    const hash = path.slice(FOLDER.length)
    const own = new Uint8Array(content)
    const found = await contentHash(own)
    if (found !== hash) throw new ContentError(`${file}: expected ${hash}, found ${found}`)
    files.push({ hash, name: names.get(hash) ?? hash, bytes: own })
  }
  return { document, files }
}

/** Why a .zip without an experiment is none, by the names of its entries. */
function noBundle(file: string, names: readonly string[]): string {
  const known = names.flatMap((name) => TO_UNPACK.exec(name)?.[1] ?? [])
  if (known.length === 0)
    return `${file}: expected a bundle with ${EXPERIMENT}, found a .zip without one`
  return `${file} is a folder of files, and no bundle. Unpack it, and open one of these from it: ${known.join(', ')}.`
}

/** The document comes from outside: what names no files as it should names none. */
function namesIn(document: unknown) {
  try {
    return contentNames(document as NamingDocument)
  } catch {
    return []
  }
}

/** Bytes that are unpacked at once: the little that a .zip takes may unpack to a thousand times as
 * much. */
const PIECE = 2 ** 16

/** The entries of a bundle; of others the names are kept in `others`. Each is unpacked in pieces,
 * no further than the bytes that it says it has. */
function unpacked(
  file: string,
  bytes: Uint8Array<ArrayBuffer>,
  others: string[],
): Readonly<Record<string, Uint8Array>> {
  const entries = new Map<string, Uint8Array[]>()
  let total = 0
  const unzip = new Unzip((entry) => {
    const { name, originalSize } = entry
    const isFile = name.startsWith(FOLDER) && isContentHash(name.slice(FOLDER.length))
    if (!isFile && name !== EXPERIMENT) {
      others.push(name)
      return
    }
    const most = isFile ? MAX_CONTENT_BYTES : MOST_DOCUMENT
    if ((originalSize ?? 0) > most || entries.size === MOST_FILES) throw new ContentError(TOO_MUCH)
    if (entries.has(name)) throw new ContentError(`${name} is there twice`)
    const pieces: Uint8Array[] = []
    entries.set(name, pieces)
    let own = 0
    entry.ondata = (error, piece) => {
      if (error) throw error
      own += piece.length
      total += piece.length
      if (own > (originalSize ?? most))
        throw new ContentError(
          originalSize === undefined
            ? TOO_MUCH
            : `${name} says ${originalSize} bytes and holds more`,
        )
      if (total > 2 * MAX_CONTENT_BYTES) throw new ContentError(TOO_MUCH)
      pieces.push(piece)
    }
    entry.start()
  })
  unzip.register(UnzipInflate)
  try {
    if (bytes[0] !== 0x50 || bytes[1] !== 0x4b) throw new ContentError('found no .zip')
    for (let at = 0; at < bytes.length; at += PIECE)
      unzip.push(bytes.subarray(at, at + PIECE), at + PIECE >= bytes.length)
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new ContentError(`${file}: expected a bundle (${why})`)
  }
  return Object.fromEntries([...entries].map(([name, pieces]) => [name, joined(pieces)]))
}

function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const piece of pieces) {
    whole.set(piece, at)
    at += piece.length
  }
  return whole
}
