// Keeps models in the browser: a folder for each, with the files as they are and a record
// of what they are. A download that was cut continues where it ended, because what a file holds so
// far is hashed again before more is written behind it.
import type { RangedFile, RangedFolder } from '../../../formats/ranged_file.ts'
import { Sha256 } from '../../../formats/sha256.ts'
import { type ModelFile, modelHash } from './model_files.ts'

/** A file that grows at its end. Only one writer at a time. */
export interface GrowingFile {
  /** Bytes that it holds. */
  size(): number
  read(begin: number, end: number): Uint8Array<ArrayBuffer>
  /** Throws where there is no room; what was there stays. */
  append(bytes: Uint8Array<ArrayBuffer>): void
  empty(): void
  close(): void
}

/** Where models lie: the origin-private file system, or memory in tests. Names are letters, digits,
 * '-', '_' and '.'. */
export interface ModelDisk {
  folders(): Promise<readonly string[]>
  /** Undefined where there is no such file. */
  open(folder: string, name: string): Promise<RangedFile | undefined>
  /** Made where it is not there. */
  grow(folder: string, name: string): Promise<GrowingFile>
  remove(folder: string): Promise<void>
  /** Bytes that may still be written; undefined where nobody says. */
  room(): Promise<number | undefined>
}

/** What is kept of a model, or of one that is being fetched. */
export interface KeptModel {
  /** The hash of its files; undefined until all are here. */
  readonly hash: string | undefined
  readonly name: string
  /** hf:owner/name@revision, an address, or '' for a folder of this machine. */
  readonly source: string
  readonly files: readonly ModelFile[]
}

/** A kept model and where it lies. */
export interface KeptFolder extends KeptModel {
  readonly folder: string
}

const RECORD = 'understory.json'
const PIECES = { least: 2 ** 20, most: 2 ** 24, quick_ms: 1500 }

interface KeepOptions {
  readonly signal?: AbortSignal | undefined
  /** After every piece, of all files together. */
  readonly onProgress?: ((bytes: number, of: number, file: string) => void) | undefined
  /** Milliseconds. */
  readonly now?: () => number
}

export class ModelStore {
  readonly #disk: ModelDisk

  constructor(disk: ModelDisk) {
    this.#disk = disk
  }

  /** Whole models and begun ones. A folder without a record that can be read is left out. */
  async list(): Promise<readonly KeptFolder[]> {
    const found: KeptFolder[] = []
    for (const folder of await this.#disk.folders()) {
      const record = await this.#record(folder)
      if (record) found.push({ ...record, folder })
    }
    return found
  }

  /** The files of a kept model. */
  files({ folder }: KeptFolder): RangedFolder {
    return { open: (name) => this.#disk.open(folder, name) }
  }

  async forget({ folder }: Pick<KeptFolder, 'folder'>): Promise<void> {
    await this.#disk.remove(folder)
  }

  /** Copies files here, in pieces, and continues where an earlier copy from the same source ended.
   * Throws an error with a sentence where there is no room, where a file is not the one that its
   * hash names, and what the files throw. */
  async keep(
    model: Omit<KeptModel, 'hash'>,
    openFile: (file: ModelFile) => RangedFile,
    options: KeepOptions = {},
  ): Promise<KeptFolder> {
    const folder = folderOf(model)
    const total = model.files.reduce((sum, { bytes }) => sum + bytes, 0)
    await this.#requireRoom(folder, model, total)
    await this.#write(folder, { ...model, hash: undefined })
    const files: ModelFile[] = []
    let before = 0
    for (const file of model.files) {
      const done = before
      const sha256 = await this.#copy(folder, file, openFile(file), {
        ...options,
        onProgress: (bytes) => options.onProgress?.(done + bytes, total, file.name),
      })
      files.push({ ...file, sha256 })
      before += file.bytes
    }
    const kept = { ...model, files, hash: modelHash(files) }
    await this.#write(folder, kept)
    return { ...kept, folder }
  }

  async #requireRoom(folder: string, { files, name }: Omit<KeptModel, 'hash'>, total: number) {
    const room = await this.#disk.room()
    let here = 0
    for (const file of files) here += (await this.#disk.open(folder, file.name))?.size ?? 0
    if (room === undefined || total - here <= room) return
    const mib = (bytes: number) => `${Math.ceil(bytes / 2 ** 20)} MiB`
    throw new Error(
      `${name} takes ${mib(total - here)}, and the browser has room for ${mib(room)} here. Forget a kept model, or free some of the disk.`,
    )
  }

  /** One file to its end; its hash. */
  async #copy(
    folder: string,
    file: ModelFile,
    source: RangedFile,
    options: KeepOptions,
  ): Promise<string> {
    const target = await this.#disk.grow(folder, file.name)
    try {
      if (target.size() > file.bytes) target.empty()
      const hash = new Sha256()
      for (let at = 0; at < target.size(); at = hash.bytes)
        hash.update(target.read(at, Math.min(target.size(), at + PIECES.most)))
      await fill(target, hash, source, options)
      const sha256 = hash.digest()
      if (file.sha256 === undefined || file.sha256 === sha256) return sha256
      target.empty()
      throw new Error(
        `${file.name} arrived damaged: expected ${file.sha256}, found ${sha256}. It was removed; fetch it again.`,
      )
    } finally {
      target.close()
    }
  }

  async #record(folder: string): Promise<KeptModel | undefined> {
    const file = await this.#disk.open(folder, RECORD)
    if (!file || file.size > 2 ** 22) return undefined
    try {
      const text = new TextDecoder().decode(await file.read(0, file.size))
      const { hash, name, source, files } = JSON.parse(text)
      return Array.isArray(files)
        ? { hash, name: `${name}`, source: `${source}`, files }
        : undefined
    } catch {
      return undefined
    }
  }

  async #write(folder: string, model: KeptModel): Promise<void> {
    const file = await this.#disk.grow(folder, RECORD)
    try {
      file.empty()
      file.append(new Uint8Array(new TextEncoder().encode(JSON.stringify(model))))
    } finally {
      file.close()
    }
  }
}

/** Pieces become larger while they come quickly, so that progress shows and requests are few. */
async function fill(
  target: GrowingFile,
  hash: Sha256,
  source: RangedFile,
  { signal, onProgress, now = () => performance.now() }: KeepOptions,
): Promise<void> {
  let piece = PIECES.least
  for (let at = target.size(); at < source.size; at = target.size()) {
    signal?.throwIfAborted()
    const began = now()
    const bytes = await source.read(at, Math.min(source.size, at + piece))
    target.append(bytes)
    hash.update(bytes)
    onProgress?.(target.size(), source.size, source.name)
    if (now() - began < PIECES.quick_ms) piece = Math.min(PIECES.most, piece * 2)
    else piece = Math.max(PIECES.least, piece / 2)
  }
}

/** The same source, or the same files where they come from nowhere, have the same folder, so that
 * it continues there. */
function folderOf({ source, name, files }: Omit<KeptModel, 'hash'>): string {
  const hash = new Sha256()
  const what =
    source || [name, ...files.map((file) => `${file.name} ${file.bytes} ${file.sha256}`)].join('\n')
  hash.update(new TextEncoder().encode(what))
  return hash
    .digest()
    .replace('sha256-', 'model-')
    .slice(0, 'model-'.length + 32)
}
