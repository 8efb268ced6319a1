// Makes up an origin-private file system in memory for tests: as much of it as opfs.ts uses, with
// files that can be moved.

const missing = () => new DOMException('not found', 'NotFoundError')

/** `room`: bytes that all files may take; a write takes what there is room for. */
export interface MadeUpOrigin {
  readonly root: FileSystemDirectoryHandle
  room: number
}

class MadeUpFile {
  readonly kind = 'file'
  bytes = new Uint8Array()
  name: string
  readonly #folder: MadeUpFolder
  readonly #origin: MadeUpOrigin & { readonly used: number }

  constructor(
    name: string,
    folder: MadeUpFolder,
    origin: MadeUpOrigin & { readonly used: number },
  ) {
    this.name = name
    this.#folder = folder
    this.#origin = origin
  }

  async move(name: string) {
    this.#folder.files.delete(this.name)
    this.name = name
    this.#folder.files.set(name, this)
  }

  async createSyncAccessHandle() {
    return {
      truncate: (size: number) => {
        this.bytes = this.bytes.slice(0, size)
      },
      write: (part: Uint8Array, { at }: { readonly at: number }) => {
        const taken = part.subarray(0, Math.max(0, this.#origin.room - this.#origin.used))
        this.bytes = Uint8Array.of(...this.bytes.subarray(0, at), ...taken)
        return taken.length
      },
      flush: () => {},
      close: () => {},
    }
  }

  async createWritable() {
    const parts: Uint8Array[] = []
    return {
      write: async (part: Uint8Array) => {
        parts.push(part.slice())
      },
      close: async () => {
        this.bytes = Uint8Array.of(...parts.flatMap((part) => [...part]))
      },
      abort: async () => {},
    }
  }

  async getFile() {
    const { bytes } = this
    return {
      size: bytes.length,
      lastModified: 0,
      arrayBuffer: async () => bytes.slice().buffer,
    }
  }
}

class MadeUpFolder {
  readonly kind = 'directory'
  readonly name: string
  readonly files = new Map<string, MadeUpFile | MadeUpFolder>()
  readonly #origin: MadeUpOrigin & { readonly used: number }

  constructor(name: string, origin: MadeUpOrigin & { readonly used: number }) {
    this.name = name
    this.#origin = origin
  }

  get bytes(): number {
    return [...this.files.values()].reduce(
      (sum, own) => sum + (own instanceof MadeUpFolder ? own.bytes : own.bytes.length),
      0,
    )
  }

  async getDirectoryHandle(name: string, { create = false } = {}) {
    return this.#get(name, create, () => new MadeUpFolder(name, this.#origin))
  }

  async getFileHandle(name: string, { create = false } = {}) {
    return this.#get(name, create, () => new MadeUpFile(name, this, this.#origin))
  }

  async removeEntry(name: string) {
    if (!this.files.delete(name)) throw missing()
  }

  async *entries() {
    yield* [...this.files]
  }

  async *values() {
    yield* [...this.files.values()]
  }

  #get(name: string, create: boolean, make: () => MadeUpFile | MadeUpFolder) {
    const own = this.files.get(name) ?? (create ? make() : undefined)
    if (!own) throw missing()
    this.files.set(name, own)
    return own
  }
}

/** An empty one without a limit. */
export function madeUpOrigin(): MadeUpOrigin {
  const origin = {
    room: Number.POSITIVE_INFINITY,
    get used() {
      return folder.bytes
    },
    get root() {
      return folder as unknown as FileSystemDirectoryHandle
    },
  }
  const folder = new MadeUpFolder('', origin)
  return origin
}
