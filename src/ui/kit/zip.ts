// Packs a folder as one .zip file. Nothing is compressed: weights would not shrink, and each piece
// passes through as it is.
import { Zip, ZipPassThrough } from 'fflate'

/** In the upper half of a zip's attributes: a plain file, and whether a shell may start it. */
const UNIX = { system: 3, file: 0o100644, script: 0o100755 }
/** The earliest date that a zip knows, so that the same job gives the same bytes. */
const MADE = new Date(1980, 0, 1)

/** A file of the archive. */
interface ZippedFile {
  readonly path: string
  readonly pieces: Iterable<Uint8Array<ArrayBuffer>> | AsyncIterable<Uint8Array<ArrayBuffer>>
}

/** The archive with all files in a folder of this name. The browser holds each piece as soon as it
 * is made; between files the page may draw. */
export async function zipOf(folder: string, files: readonly ZippedFile[]): Promise<Blob> {
  const parts: Blob[] = []
  const zip = new Zip((error, piece) => {
    if (error) throw error
    // A blob is a copy outside of this page's own memory: the maker of a piece may use its bytes
    // again.
    parts.push(new Blob([piece as Uint8Array<ArrayBuffer>]))
  })
  for (const { path, pieces } of files) {
    const entry = new ZipPassThrough(`${folder}/${path}`)
    entry.mtime = MADE
    entry.os = UNIX.system
    entry.attrs = (path.endsWith('.sh') ? UNIX.script : UNIX.file) * 2 ** 16
    zip.add(entry)
    for await (const piece of pieces) entry.push(piece)
    entry.push(new Uint8Array(0), true)
    await new Promise((resolve) => setTimeout(resolve))
  }
  zip.end()
  return new Blob(parts, { type: 'application/zip' })
}
