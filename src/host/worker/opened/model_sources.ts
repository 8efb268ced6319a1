// Fetches models from where they lie: a server that a person allowed, the browser's storage, or a
// folder of this machine.

import { blobFolder, type RangedFolder } from '../../../formats/ranged_file.ts'
import type { FileSource } from '../../../model/hf/hf_model.ts'
import { ADAPTER_CONFIG, ADAPTER_WEIGHTS } from '../../../model/hf/peft_config.ts'
import { modelAddress } from '../../content/models/model_address.ts'
import { CONFIG_FILE, hashedFolder, type ModelFile } from '../../content/models/model_files.ts'
import { type KeptFolder, type ModelDisk, ModelStore } from '../../content/models/model_store.ts'
import { type Endings, openPort } from '../../content/models/port_get.ts'
import type { RangedGet } from '../../content/models/ranged_get.ts'
import { findRemote, type RemoteModel, remoteFile } from '../../content/models/remote_model.ts'
import type { FoundModel, KeptFacts, ModelUse, NamedFiles } from '../../protocol/opened_model.ts'

/** What a config says of a model, and what it would take. */
export interface PlannedModel {
  readonly model_type: string
  readonly num_parameters: number
  readonly uses: readonly ModelUse[]
}

/** Files that can be opened as a model. */
export interface SourceFolder {
  readonly name: string
  readonly folder: RangedFolder
  /** Where its files are known by their hash. */
  readonly kept: KeptFolder | undefined
}

/** Files that a person chose, each read whole: those of an adapter are small. */
export const wholeFiles = (files: readonly File[]): FileSource => ({
  read: async (name) => {
    const file = files.find((one) => one.name === name)
    return file && new Uint8Array(await file.arrayBuffer())
  },
})

const ADAPTER_FILES: readonly string[] = [ADAPTER_CONFIG, ADAPTER_WEIGHTS]
const isAdapter = ({ files }: KeptFolder) => files.some(({ name }) => name === ADAPTER_CONFIG)

/** The files of a folder that make an adapter, each with its hash. */
export async function adapterList({ files }: NamedFiles): Promise<readonly ModelFile[]> {
  const hashed = hashedFolder(blobFolder(files))
  for (const name of ADAPTER_FILES) await hashed.open(name)
  return hashed.files()
}

type OnProgress = (bytes: number, of: number) => void

const sumOf = (files: readonly ModelFile[]) => files.reduce((sum, { bytes }) => sum + bytes, 0)

export class ModelSources {
  readonly #openDisk: () => Promise<ModelDisk | undefined>
  #store: Promise<ModelStore | undefined> | undefined
  #found: { readonly model: RemoteModel; readonly get: RangedGet } | undefined

  constructor(openDisk: () => Promise<ModelDisk | undefined>) {
    this.#openDisk = openDisk
  }

  /** Undefined where the browser gives a page no storage. */
  async #opened(): Promise<ModelStore | undefined> {
    this.#store ??= this.#openDisk().then((disk) => disk && new ModelStore(disk))
    return this.#store
  }

  /** Looks for a model once the person has agreed to ask its server. Nothing but its config is
   * fetched. */
  async find(
    address: string,
    port: MessagePort,
    endings: Endings,
    plan: (config: Uint8Array) => Promise<PlannedModel>,
  ): Promise<FoundModel> {
    this.#found = undefined
    const get = await openPort(port, endings)
    const model = await findRemote(modelAddress(address), get)
    const config = model.files.find(({ name }) => name === CONFIG_FILE) as ModelFile
    const bytes = await remoteFile(model, config, get).read(0, config.bytes)
    const planned = await plan(bytes)
    this.#found = { model, get }
    const { name, source } = model.address
    const store = await this.#opened()
    const begun = (await store?.list())?.find((kept) => kept.source === source)
    const here_bytes = begun && store ? await this.#bytesHere(store, begun) : 0
    const size = { bytes: sumOf(model.files), files: model.files.length, here_bytes }
    return { name, source, ...size, ...planned, can_keep: store !== undefined }
  }

  async #bytesHere(store: ModelStore, kept: KeptFolder): Promise<number> {
    let bytes = 0
    for (const { name } of kept.files) bytes += (await store.files(kept).open(name))?.size ?? 0
    return bytes
  }

  /** Fetches what was found into the browser's storage; without storage, it is read from the server
   * as it is needed. */
  async fetch(signal: AbortSignal, onProgress: OnProgress): Promise<SourceFolder> {
    if (!this.#found) throw new RangeError('Look for a model first.')
    const { model, get } = this.#found
    const { name, source } = model.address
    const store = await this.#opened()
    const open = (file: ModelFile) => remoteFile(model, file, get)
    if (!store) {
      const folder: RangedFolder = {
        open: async (file) => {
          const own = model.files.find((one) => one.name === file)
          return own && open(own)
        },
      }
      return { name, folder, kept: undefined }
    }
    const kept = await store.keep({ name, source, files: model.files }, open, {
      signal,
      onProgress,
    })
    return { name, folder: store.files(kept), kept }
  }

  /** Copies the files of an open model here. */
  async keep(
    name: string,
    folder: RangedFolder,
    files: readonly ModelFile[],
    signal: AbortSignal,
    onProgress: OnProgress,
  ): Promise<KeptFolder> {
    const store = await this.#opened()
    if (!store)
      throw new Error('This browser gives the page no storage, as some do in private windows.')
    const opened = new Map(
      await Promise.all(
        files.map(async (file) => [file.name, await folder.open(file.name)] as const),
      ),
    )
    const open = ({ name: file }: ModelFile) => {
      const own = opened.get(file)
      if (!own) throw new Error(`${file} is no longer there. Choose the folder again.`)
      return own
    }
    return store.keep({ name, source: '', files }, open, { signal, onProgress })
  }

  /** Copies the two files of an adapter here. Throws where there are others. */
  async keepAdapter(
    { name, files }: NamedFiles,
    signal: AbortSignal,
    onProgress: OnProgress,
  ): Promise<KeptFolder> {
    const found = await adapterList({ name, files })
    return this.keep(name, blobFolder(files), found, signal, onProgress)
  }

  /** The files of a kept folder that is an adapter; undefined where it is a model. */
  async adapterOf({ name, folder, kept }: SourceFolder): Promise<NamedFiles | undefined> {
    if (!kept || !isAdapter(kept)) return undefined
    const files: File[] = []
    for (const own of ADAPTER_FILES) {
      const file = await folder.open(own)
      if (file) files.push(new File([await file.read(0, file.size)], own))
    }
    return { name, files }
  }

  /** Throws where it is not here, or not whole. */
  async kept(folder: string): Promise<SourceFolder> {
    const store = await this.#opened()
    const kept = (await store?.list())?.find((one) => one.folder === folder)
    if (!store || !kept) throw new RangeError('This model is no longer kept here.')
    if (kept.hash === undefined)
      throw new RangeError(
        `Parts of ${kept.name} are missing. ${kept.source === '' ? 'Keep it again' : `Fetch ${kept.source} again: it continues where it was`}.`,
      )
    return { name: kept.name, folder: store.files(kept), kept }
  }

  async list(): Promise<{ readonly models: readonly KeptFacts[]; readonly can_keep: boolean }> {
    const store = await this.#opened()
    const models = await Promise.all(
      ((await store?.list()) ?? []).map(async (kept) => {
        const { folder, hash, name, source } = kept
        const bytes = store ? await this.#bytesHere(store, kept) : 0
        return { folder, hash, name, source, bytes, is_adapter: isAdapter(kept) }
      }),
    )
    return { models, can_keep: store !== undefined }
  }

  async forget(folder: string): Promise<void> {
    await (await this.#opened())?.forget({ folder })
  }
}
