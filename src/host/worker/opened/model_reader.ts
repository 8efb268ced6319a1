// Reads the models that a person looks at in the worker: opened from wherever they lie, read text
// by text, written with, closed. Each has a device of its own, so that a run in progress neither
// waits for it nor is touched by it.

import { blobFolder, type RangedFolder } from '../../../formats/ranged_file.ts'
import type { FileSource, OpenHfModel } from '../../../model/hf/hf_model.ts'
import type { PeftAdapter } from '../../../model/hf/peft_adapter.ts'
import type { LoraConfig } from '../../../model/layout/config.ts'
import type { ParamLayout } from '../../../model/layout/params.ts'
import type { OpenOptions } from '../../../rl/look/opened_model.ts'
import {
  CONFIG_FILE,
  hashedFolder,
  type ModelFile,
  modelHash,
} from '../../content/models/model_files.ts'
import type { ModelDisk } from '../../content/models/model_store.ts'
import type { Endings } from '../../content/models/port_get.ts'
import type {
  ModelCommand,
  ModelEvent,
  ModelPlace,
  ModelProgress,
  NamedFiles,
  OpenedModelFacts,
} from '../../protocol/opened_model.ts'
import {
  adapterList,
  ModelSources,
  type PlannedModel,
  type SourceFolder,
  wholeFiles,
} from './model_sources.ts'
import { type LookedAt, ModelTalk } from './model_talk.ts'
import {
  hasChat,
  type OpenedText,
  readTokenizer,
  specialWords,
  type TryText,
} from './opened_text.ts'
import { progressOf } from './progress.ts'
import { savedFolder } from './saved_folder.ts'
import { listOf, requireTrainable, startOf } from './start_of.ts'

/** What the worker brings: the GPU side. */
export interface ModelHost {
  /** Checks the files of a model, with an adapter where there are files of one; throws errors whose
   * messages are sentences. */
  readonly check: (folder: RangedFolder, adapter: readonly File[]) => Promise<OpenHfModel>
  /** `held`: bytes that models hold already. */
  readonly open: (model: OpenHfModel, held: number, options: OpenOptions) => Promise<LookedAt>
  /** What a config.json says, and what its model would take. */
  readonly plan: (config: Uint8Array) => Promise<PlannedModel>
  /** The adapter of a folder, to train it further. */
  readonly readAdapter: (source: FileSource, layout: ParamLayout) => Promise<PeftAdapter>
  readonly disk: () => Promise<ModelDisk | undefined>
  readonly post: (event: ModelEvent) => void
  /** Where patterns of a tokenizer are tried before a text is read; undefined where they are
   * bounded otherwise. */
  readonly tryText?: TryText
  /** Milliseconds. */
  readonly now: () => number
}

interface Opened extends OpenedText {
  readonly hf: OpenHfModel
  readonly model: LookedAt
  readonly source: SourceFolder
  readonly files: readonly ModelFile[]
  readonly adapter: OwnAdapter
  readonly facts: OpenedModelFacts
}

interface OwnAdapter extends NamedFiles {
  readonly is_kept: boolean
}

/** Why a person ended something; after the second, nobody waits to hear of it. */
const STOPPED = new Error('It was ended. What has arrived is kept.')
const CLOSED = new Error(STOPPED.message)

const NO_ADAPTER: OwnAdapter = { name: '', files: [], is_kept: false }

export class ModelReader {
  readonly #host: ModelHost
  readonly #sources: ModelSources
  readonly #open = new Map<ModelPlace, Opened>()
  readonly #talk: ModelTalk
  #wanted: ModelPlace = 'first'
  #stop = new AbortController()
  /** Ends a search that still waits for the person's leave. */
  #unasked = new AbortController()
  #tail: Promise<void> = Promise.resolve()

  constructor(host: ModelHost) {
    this.#host = host
    this.#sources = new ModelSources(host.disk)
    this.#talk = new ModelTalk(host.post, host.tryText)
  }

  /** Acts on a command, one after the other. Never throws: what goes wrong is posted as
   * `model_failed`. */
  handle(command: ModelCommand): void {
    // Who asks for something else no longer waits to be asked: what follows would wait for ever.
    if (command.type !== 'cancel_model' && command.type !== 'list_models') {
      this.#unasked.abort(CLOSED)
      this.#unasked = new AbortController()
    }
    // What is under way need not end before it is ended.
    if (command.type === 'cancel_model' || command.type === 'close_model') {
      const isClosed = command.type === 'close_model' && command.place === undefined
      this.#stop.abort(isClosed ? CLOSED : STOPPED)
      this.#stop = new AbortController()
    }
    const signals = { signal: this.#stop.signal, unasked: this.#unasked.signal }
    // A text that is being written is steered while it is.
    if (command.type === 'steer_model') return void this.#act(command, signals)
    this.#tail = this.#tail.then(() => this.#act(command, signals))
  }

  /** Resolves when everything asked for so far is done. */
  get idle(): Promise<void> {
    return this.#tail
  }

  async #act(command: ModelCommand, signals: Endings): Promise<void> {
    try {
      await this.#do(command, signals)
    } catch (error) {
      // The page shows another model by then, or none. A start is waited for wherever it was asked.
      const isClosed = error === CLOSED || signals.signal.reason === CLOSED
      if (isClosed && command.type !== 'start_of') return
      const message = error instanceof Error ? error.message : String(error)
      this.#host.post({ type: 'model_failed', message, open: [...this.#open.keys()] })
    }
  }

  async #do(command: ModelCommand, signals: Endings): Promise<void> {
    const { post } = this.#host
    const { signal } = signals
    switch (command.type) {
      case 'open_model': {
        const { place, name, files, adapter, vectors } = command
        const source = { name, folder: blobFolder(files), kept: undefined }
        return this.#openFolder(place, source, signal, { ...adapter, is_kept: false }, vectors)
      }
      case 'add_adapter':
        return this.#addAdapter({ ...command.adapter, is_kept: false }, signal)
      case 'find_model': {
        const { place, address, port } = command
        this.#wanted = place
        const model = await this.#sources.find(address, port, signals, this.#host.plan)
        return post({ type: 'model_found', place, model })
      }
      case 'fetch_model': {
        const source = await this.#sources.fetch(signal, this.#progress('fetching'))
        await this.#openFolder(this.#wanted, source, signal)
        return this.#list()
      }
      case 'keep_model':
        return this.#keep(command.place, signal)
      case 'open_kept':
        return this.#openKept(command.place, command.folder, signal)
      case 'forget_model':
        await this.#sources.forget(command.folder)
        return this.#list()
      case 'list_models':
        return this.#list()
      case 'read_text':
        this.#opened()
        return this.#talk.read(this.#open, command, signal)
      case 'write_text':
        return this.#talk.write(this.#opened(), command, signal)
      case 'direct_model':
        return this.#talk.direct(this.#opened(), command)
      case 'steer_model':
        return this.#opened().model.steer(command)
      case 'look_back':
        return this.#talk.lookBack(this.#opened(), command.at)
      case 'start_from':
        return this.#startFrom(command.has_adapter, signal)
      case 'start_of':
        return this.#startOf(command.of, signal)
      case 'save_model':
        return this.#save(signal)
      case 'close_model':
        return this.#close(command.place)
      case 'cancel_model':
        return
    }
  }

  #close(place?: ModelPlace): void {
    for (const own of place ? [place] : [...this.#open.keys()]) {
      this.#open.get(own)?.model.close()
      this.#open.delete(own)
    }
    this.#talk.forget()
  }

  #progress(doing: ModelProgress['doing']) {
    return progressOf(doing, this.#host.now, (progress) =>
      this.#host.post({ type: 'model_progress', progress }),
    )
  }

  async #list(): Promise<void> {
    this.#host.post({ type: 'models_kept', ...(await this.#sources.list()) })
  }

  async #openFolder(
    place: ModelPlace,
    source: SourceFolder,
    signal: AbortSignal,
    adapter = NO_ADAPTER,
    vectors?: readonly Float32Array[],
  ): Promise<void> {
    signal.throwIfAborted()
    this.#close(place)
    const hashed = hashedFolder(source.folder)
    const hf = await this.#host.check(hashed, adapter.files)
    const held = [...this.#open.values()].reduce((sum, { model }) => sum + model.bytes, 0)
    const onProgress = this.#progress('reading')
    const refused = new AbortController()
    const opening = this.#host.open(hf, held, {
      signal: AbortSignal.any([signal, refused.signal]),
      onProgress,
      vectors,
    })
    opening.catch(() => {}) // said below, once texts were tried
    // Texts are tried meanwhile. Where they are refused, their error is the one that is said.
    const [text, { uses }] = await Promise.all([
      readTokenizer(hashed, this.#host.tryText),
      configOf(hashed).then((config) => this.#host.plan(config)),
    ]).catch(async (error: unknown) => {
      refused.abort(error)
      await opening.then(
        (model) => model.close(),
        () => {},
      )
      throw error
    })
    const model = await opening
    try {
      const files = await hashed.files()
      const hash = modelHash(files)
      if (source.kept && source.kept.hash !== hash)
        throw new Error(
          `The kept files of ${source.name} are damaged: expected ${source.kept.hash}, found ${hash}. Forget them and fetch the model again.`,
        )
      const { model_type, num_hidden_layers, hidden_size, vocab_size } = hf.config
      const facts: OpenedModelFacts = {
        model_type,
        num_hidden_layers,
        hidden_size,
        vocab_size,
        dtype: hf.dtype,
        hash,
        name: source.name,
        num_parameters: hf.layout.num_parameters,
        gpu: model.adapter,
        gpu_bytes: model.bytes,
        adapter: adapter.name,
        is_steered: vectors !== undefined,
        uses,
        why_ids: text.why_ids,
        special_tokens: specialWords(text.tokenizer),
        has_template: hasChat(text.tokenizer),
        is_kept: source.kept !== undefined && (adapter.files.length === 0 || adapter.is_kept),
        lists: [
          listOf(source.name, files),
          ...(adapter.files.length > 0 ? [listOf(adapter.name, await adapterList(adapter))] : []),
        ],
      }
      signal.throwIfAborted()
      this.#open.set(place, { ...text, hf, model, source, files, adapter, facts })
      this.#host.post({ type: 'model_opened', place, model: facts })
    } catch (error) {
      model.close()
      throw error
    }
  }

  /** The files of an open model are read once more: its weights on the GPU have the adapter in them
   * already, or not yet. */
  async #addAdapter(adapter: OwnAdapter, signal: AbortSignal): Promise<void> {
    const { source } = this.#whole()
    return this.#openFolder('first', source, signal, adapter)
  }

  async #openKept(place: ModelPlace, folder: string, signal: AbortSignal): Promise<void> {
    const source = await this.#sources.kept(folder)
    const adapter = await this.#sources.adapterOf(source)
    return adapter
      ? this.#addAdapter({ ...adapter, is_kept: true }, signal)
      : this.#openFolder(place, source, signal)
  }

  async #keep(place: ModelPlace, signal: AbortSignal): Promise<void> {
    const own = this.#whole(place)
    const { source, files, facts, adapter } = own
    const onProgress = this.#progress('keeping')
    const kept =
      source.kept ??
      (await this.#sources.keep(facts.name, source.folder, files, signal, onProgress))
    if (adapter.files.length > 0) await this.#sources.keepAdapter(adapter, signal, onProgress)
    const now = { ...facts, is_kept: true }
    this.#open.set(place, { ...own, source: { ...source, kept }, facts: now })
    this.#host.post({ type: 'model_opened', place, model: now })
    await this.#list()
  }

  async #startFrom(hasAdapter: boolean, signal: AbortSignal): Promise<void> {
    // What cannot be trained is not kept either.
    const given = await this.#givenAdapter()
    requireTrainable(this.#whole().facts.name, this.#opened().hf.config)
    if (!this.#opened().facts.is_kept) await this.#keep('first', signal)
    const { hf, source, texts: tokenizer, facts } = this.#opened()
    // An adapter that is merged in has made float32 of what may be bfloat16.
    const { exactDtype } = given ? await this.#host.check(source.folder, []) : hf
    const adapter = given ?? (hasAdapter ? 'fresh' : undefined)
    const what = adapter ? 'lora' : 'full'
    const use = facts.uses.find((one) => one.what === what)
    const { enable_gradient_checkpointing = false } = use ?? {}
    const model = { config: hf.config, exactDtype, tokenizer, lists: facts.lists }
    const address = source.kept?.source ?? ''
    const start = startOf({ ...model, address, enable_gradient_checkpointing }, adapter)
    this.#host.post({ type: 'model_start', start })
  }

  async #startOf(of: NamedFiles | { readonly folder: string }, signal: AbortSignal): Promise<void> {
    const { name, folder, kept } =
      'files' in of
        ? { name: of.name, folder: blobFolder(of.files), kept: undefined }
        : await this.#sources.kept(of.folder)
    const hashed = hashedFolder(folder)
    const { config, exactDtype } = await this.#host.check(hashed, [])
    requireTrainable(name, config)
    const { texts: tokenizer } = await readTokenizer(hashed, this.#host.tryText)
    const files = await hashed.files()
    if (!kept) await this.#sources.keep(name, folder, files, signal, this.#progress('keeping'))
    const model = { config, exactDtype, tokenizer, lists: [listOf(name, files)] }
    const address = kept?.source ?? ''
    const start = startOf({ ...model, address, enable_gradient_checkpointing: false }, undefined)
    this.#host.post({ type: 'model_start', start })
    await this.#list()
  }

  /** The settings of the adapter that is merged into the first model. */
  async #givenAdapter(): Promise<LoraConfig | undefined> {
    const { hf, adapter } = this.#opened()
    if (adapter.files.length === 0) return undefined
    return (await this.#host.readAdapter(wholeFiles(adapter.files), hf.layout)).lora
  }

  /** Reads the files once more, so that no copy of the weights is in memory. */
  async #save(signal: AbortSignal): Promise<void> {
    const { facts, source, adapter } = this.#whole()
    const hf = await this.#host.check(source.folder, adapter.files)
    const onProgress = this.#progress('writing')
    const files = await savedFolder(hf, source.folder, { signal, onProgress })
    const name = [facts.name.replace(/[^\w.-]+/g, '-'), ...(facts.adapter ? ['merged'] : [])]
    this.#host.post({ type: 'model_saved', name: name.join('-'), files })
  }

  /** A model that its files hold. */
  #whole(place: ModelPlace = 'first'): Opened {
    const own = this.#opened(place)
    if (own.facts.is_steered)
      throw new RangeError(
        `${own.facts.name} has steering vectors, which no file of a model holds. Take them with “What does a direction do?” of its run.`,
      )
    return own
  }

  #opened(place: ModelPlace = 'first'): Opened {
    const own = this.#open.get(place)
    if (!own) throw new RangeError('There is no model: open its folder first.')
    return own
  }
}

async function configOf(folder: RangedFolder): Promise<Uint8Array> {
  const file = await folder.open(CONFIG_FILE)
  return file ? file.read(0, file.size) : new Uint8Array()
}
