// Describes files that an experiment names and a link cannot carry: data sets, programs. They are
// known by the SHA-256 of their bytes, so the same document means the same file on every machine.

/** A file that a document names. */
export interface NamedContent {
  /** `sha256-` and 64 hexadecimal digits. */
  readonly hash: string
  /** What a person calls it, e.g. problems.jsonl; the hash alone decides which file it is. */
  readonly name: string
}

export interface ContentFile extends NamedContent {
  readonly bytes: Uint8Array<ArrayBuffer>
}

/** What a store says of a file without reading it. */
export interface ContentEntry extends NamedContent {
  readonly bytes: number
}

/** Files by hash. Nothing of another hash than asked for is ever given out. */
export interface ContentStore {
  /** Keeps a file. One that is there already stays, under its new name. */
  put(bytes: Uint8Array<ArrayBuffer>, name: string): Promise<ContentEntry>
  /** Undefined where it is not there, or is no longer what was put there. */
  read(hash: string): Promise<ContentFile | undefined>
  list(): Promise<readonly ContentEntry[]>
  remove(hash: string): Promise<void>
}

/** A file that is missing, or is not the one that a document names. */
export class ContentError extends Error {
  override readonly name = 'ContentError'
}

const HASH = /^sha256-[0-9a-f]{64}$/
export const isContentHash = (text: string): boolean => HASH.test(text)

/** `sha256-…` of the bytes. */
export async function contentHash(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  // Browsers give it to pages of a secure address alone; a recorded run plays on any.
  if (!crypto.subtle) {
    const { Sha256 } = await import('../../formats/sha256.ts')
    const hash = new Sha256()
    hash.update(bytes)
    return hash.digest()
  }
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
  return `sha256-${Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('')}`
}

/** Enough of a hash for a person to tell two apart: sha256-ab12cd34… */
export const shortHash = (hash: string): string => `${hash.slice(0, 'sha256-'.length + 8)}…`

/** The largest file that is read: all of it is in memory, once in the page and once in its
 * worker. */
export const MAX_CONTENT_BYTES = 256 * 2 ** 20

/** Why a file of so many bytes is not read; undefined where it is. */
export function tooLarge(bytes: number): string | undefined {
  if (bytes <= MAX_CONTENT_BYTES) return undefined
  const mebibytes = (x: number) => `${Math.round(x / 2 ** 20)} MiB`
  return `expected at most ${mebibytes(MAX_CONTENT_BYTES)}, found ${mebibytes(bytes)}; take a part of it`
}
