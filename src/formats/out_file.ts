// Describes a file of a folder that is being written, wherever that is: a disk, an archive, a
// download.

export interface OutFile {
  /** Inside the folder, with slashes. */
  readonly path: string
  /** Its bytes in order. A large file makes each piece when it is asked for, so that one at a time
   * is in memory. */
  readonly pieces: Iterable<Uint8Array<ArrayBuffer>>
}

/** A file of text, in UTF-8. */
export const textFile = (path: string, text: string): OutFile => ({
  path,
  pieces: [new TextEncoder().encode(text)],
})

/** A file of JSON with one line for each field. */
export const jsonFile = (path: string, value: unknown): OutFile =>
  textFile(path, `${JSON.stringify(value, undefined, 2)}\n`)
