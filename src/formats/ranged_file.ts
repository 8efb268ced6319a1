// Describes a file that gives ranges of its bytes, wherever it lies: a person's disk, the browser's
// storage, a server. What is larger than the memory of a tab can be read so.

export interface RangedFile {
  /** A plain file name. */
  readonly name: string
  /** Bytes. */
  readonly size: number
  /** The bytes begin … end − 1, all of them. Throws an error whose message is a sentence where they
   * cannot be had. */
  read(begin: number, end: number): Promise<Uint8Array<ArrayBuffer>>
}

export interface RangedFolder {
  /** Undefined where there is no such file. */
  open(name: string): Promise<RangedFile | undefined>
}

/** A file in memory; its ranges are views. */
export const bytesFile = (name: string, bytes: Uint8Array<ArrayBuffer>): RangedFile => ({
  name,
  size: bytes.length,
  read: async (begin, end) => bytes.subarray(begin, end),
})

/** A file of the browser: chosen or dropped by a person, or in the page's own storage. Only what is
 * read is in memory. */
export const blobFile = (file: File): RangedFile => ({
  name: file.name,
  size: file.size,
  read: async (begin, end) => {
    let bytes: Uint8Array<ArrayBuffer>
    try {
      bytes = new Uint8Array(await file.slice(begin, end).arrayBuffer())
    } catch {
      throw new Error(
        `${file.name} can no longer be read: it was moved or changed since it was chosen. Choose the folder again.`,
      )
    }
    if (bytes.length === end - begin) return bytes
    throw new Error(
      `${file.name}: expected bytes ${begin} to ${end}, found ${bytes.length} of them. Choose the folder again.`,
    )
  },
})

/** Files of a folder that a person chose, by name. */
export const blobFolder = (files: readonly File[]): RangedFolder => ({
  open: async (name) => {
    const file = files.find((one) => one.name === name)
    return file && blobFile(file)
  },
})

/** The whole of a small file. Throws RangeError for one of more than `most` bytes. */
export async function readSmall(file: RangedFile, most: number): Promise<Uint8Array<ArrayBuffer>> {
  if (file.size > most)
    throw new RangeError(`expected at most ${most} bytes of JSON, found ${file.size}`)
  return file.read(0, file.size)
}
