// A bundle: one .zip with an experiment and every file that it names, for a machine that has none of them.
import { strFromU8, strToU8, unzipSync, zipSync } from 'fflate'
import {
  ContentError,
  type ContentFile,
  contentHash,
  isContentHash,
  MAX_CONTENT_BYTES,
} from './content.ts'
import { contentNames, type NamingDocument } from './named.ts'

const EXPERIMENT = 'experiment.json'
const FOLDER = 'content/'
/** The earliest date that a zip knows, so that the same bundle has the same bytes. */
const MADE = new Date(1980, 0, 1)
const MOST_DOCUMENT = 1_000_000
const MOST_FILES = 32

/** The bytes of a bundle. Throws ContentError where a file that the document names is not among `files`. */
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

/**
 * What a bundle holds: the document, not checked yet, and its files under the names that the document has for them. Throws ContentError for
 * a .zip that is no bundle, that is too large, or whose files are not what their names say.
 */
export async function readBundle(
  file: string,
  bytes: Uint8Array<ArrayBuffer>,
): Promise<{ readonly document: unknown; readonly files: readonly ContentFile[] }> {
  const entries = unpacked(file, bytes)
  const text = entries[EXPERIMENT]
  if (!text)
    throw new ContentError(
      `${file}: expected a bundle with ${EXPERIMENT}, found a .zip without one`,
    )
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

/** The document comes from outside: what names no files as it should names none. */
function namesIn(document: unknown) {
  try {
    return contentNames(document as NamingDocument)
  } catch {
    return []
  }
}

/** The entries of a bundle; others are passed over. What they unpack to is measured before it is unpacked. */
function unpacked(
  file: string,
  bytes: Uint8Array<ArrayBuffer>,
): Readonly<Record<string, Uint8Array>> {
  let [total, count] = [0, 0]
  const filter = ({ name, originalSize }: { name: string; originalSize: number }) => {
    const is_file = name.startsWith(FOLDER) && isContentHash(name.slice(FOLDER.length))
    if (!is_file && name !== EXPERIMENT) return false
    total += originalSize
    const most = is_file ? MAX_CONTENT_BYTES : MOST_DOCUMENT
    if (originalSize > most || total > 2 * MAX_CONTENT_BYTES || ++count > MOST_FILES)
      throw new ContentError('found more than one may hold')
    return true
  }
  try {
    return unzipSync(bytes, { filter })
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new ContentError(`${file}: expected a bundle (${why})`)
  }
}
