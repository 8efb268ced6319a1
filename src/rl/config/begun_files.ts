// Keeps the files that runs begin with, steering vectors and lenses, known to this process by their
// hash.

/** What a person gave, under the hash of its bytes. */
interface BegunFile {
  readonly hash: string
  readonly name: string
  readonly bytes: Uint8Array<ArrayBuffer>
}

const files = new Map<string, BegunFile>()

/** Makes a file known under its hash. */
export function knowFile(file: BegunFile): void {
  files.set(file.hash, file)
}

/** The file of a hash; undefined where nobody has made it known. */
export const knownFile = (hash: string): BegunFile | undefined => files.get(hash)
