// The models that a person looks at in the worker: opened from wherever they lie, read text by text, written with, closed. Each has a device
// of its own, so that a run in progress neither waits for it nor is touched by it.
import type { OpenHfModel } from '../../../model/hf/hf_model.ts'
import { blobFolder, type RangedFolder } from '../../../model/hf/stream/ranged_file.ts'
import type { LoadOptions } from '../../../model/hf/stream/weight_stream.ts'
import type { TextWindow } from '../../../model/internals/lens_window.ts'
import type { ModelConfig } from '../../../model/params/config.ts'
import type { OpenedModel } from '../../../rl/look/opened_model.ts'
import { hashedFolder, type ModelFile, modelHash } from '../../content/models/model_files.ts'
import type { ModelDisk } from '../../content/models/model_store.ts'
import type {
  ModelCommand,
  ModelEvent,
  ModelPlace,
  ModelReading,
  OpenedModelFacts,
} from '../../protocol/opened_model.ts'
import { ModelSources, type PlannedModel, type SourceFolder } from './model_sources.ts'
import { idsOf, type OpenedText, promptIds, readTokenizer, textOfIds } from './opened_text.ts'
import { progressOf } from './progress.ts'
import { startOf } from './start_of.ts'

/** What the worker brings: the GPU side. */
export interface ModelHost {
  /** Checks the files of a model, with an adapter where there are files of one; throws errors whose messages are sentences. */
  readonly check: (folder: RangedFolder, adapter: readonly File[]) => Promise<OpenHfModel>
  /** `held`: bytes that models hold already. */
  readonly open: (model: OpenHfModel, held: number, options: LoadOptions) => Promise<LookedAt>
  /** What a config.json says, and what its model would take. */
  readonly plan: (config: Uint8Array) => Promise<PlannedModel>
  readonly disk: () => Promise<ModelDisk | undefined>
  readonly post: (event: ModelEvent) => void
  /** Milliseconds. */
  readonly now: () => number
}

/** A model on a device. */
export type LookedAt = Pick<OpenedModel, 'adapter' | 'bytes' | 'look' | 'changes' | 'close'> & {
  readonly generation: Pick<OpenedModel['generation'], 'write'>
}

interface Opened extends OpenedText {
  readonly config: ModelConfig
  readonly model: LookedAt
  readonly folder: RangedFolder
  readonly files: readonly ModelFile[]
  readonly facts: OpenedModelFacts
}

/** Positions that are read of what a token was written after: so many as fill a screen. */
const BEFORE_TOKEN = 24

export class ModelReader {
  readonly #host: ModelHost
  readonly #sources: ModelSources
  readonly #open = new Map<ModelPlace, Opened>()
  #wanted: ModelPlace = 'first'
  /** Prompt and what was written last. */
  #conversation: { readonly ids: readonly number[]; readonly prompt_length: number } | undefined
  #stop = new AbortController()
  #tail: Promise<void> = Promise.resolve()

  constructor(host: ModelHost) {
    this.#host = host
    this.#sources = new ModelSources(host.disk)
  }

  /** Acts on a command, one after the other. Never throws: what goes wrong is posted as `model_failed`. */
  handle(command: ModelCommand): void {
    // What is under way need not end before it is ended.
    if (command.type === 'cancel_model' || command.type === 'close_model') {
      this.#stop.abort(new Error('It was ended. What has arrived is kept.'))
      this.#stop = new AbortController()
    }
    const { signal } = this.#stop
    this.#tail = this.#tail.then(() => this.#act(command, signal))
  }

  /** Resolves when everything asked for so far is done. */
  get idle(): Promise<void> {
    return this.#tail
  }

  async #act(command: ModelCommand, signal: AbortSignal): Promise<void> {
    try {
      await this.#do(command, signal)
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      this.#host.post({ type: 'model_failed', message, open: [...this.#open.keys()] })
    }
  }

  async #do(command: ModelCommand, signal: AbortSignal): Promise<void> {
    const { post } = this.#host
    switch (command.type) {
      case 'open_model': {
        const { place, name, files, adapter } = command
        const source = { name, folder: blobFolder(files), kept: undefined }
        return this.#openFolder(place, source, signal, adapter)
      }
      case 'find_model': {
        const { place, address, port } = command
        this.#wanted = place
        const model = await this.#sources.find(address, port, signal, this.#host.plan)
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
        return this.#openFolder(command.place, await this.#sources.kept(command.folder), signal)
      case 'forget_model':
        await this.#sources.forget(command.folder)
        return this.#list()
      case 'list_models':
        return this.#list()
      case 'read_text':
        return this.#read(command.text, command.wants_changes)
      case 'write_text':
        return this.#write(command, signal)
      case 'look_back':
        return this.#lookBack(command.at)
      case 'start_from':
        return this.#startFrom(signal)
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
    this.#conversation = undefined
  }

  #progress(doing: 'fetching' | 'keeping' | 'reading') {
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
    adapter: readonly File[] = [],
  ): Promise<void> {
    this.#close(place)
    const hashed = hashedFolder(source.folder)
    const hf = await this.#host.check(hashed, adapter)
    const text = await readTokenizer(hashed)
    const held = [...this.#open.values()].reduce((sum, { model }) => sum + model.bytes, 0)
    const onProgress = this.#progress('reading')
    const model = await this.#host.open(hf, held, { signal, onProgress })
    try {
      const files = await hashed.files()
      const hash = modelHash(files)
      if (source.kept && source.kept.hash !== hash)
        throw new Error(
          `The kept files of ${source.name} are damaged: expected ${source.kept.hash}, found ${hash}. Forget them and fetch the model again.`,
        )
      const { model_type, num_hidden_layers, hidden_size, vocab_size } = hf.config
      const facts: OpenedModelFacts = {
        ...{ model_type, num_hidden_layers, hidden_size, vocab_size, dtype: hf.dtype, hash },
        ...{ name: source.name, num_parameters: hf.layout.num_parameters },
        ...{ gpu: model.adapter, gpu_bytes: model.bytes, has_adapter: adapter.length > 0 },
        why_ids: text.why_ids,
        has_template: text.tokenizer?.renderChat !== undefined,
        is_kept: source.kept !== undefined,
      }
      const { folder } = source
      this.#open.set(place, { ...text, config: hf.config, model, folder, files, facts })
      this.#host.post({ type: 'model_opened', place, model: facts })
    } catch (error) {
      model.close()
      throw error
    }
  }

  async #keep(place: ModelPlace, signal: AbortSignal): Promise<void> {
    const own = this.#opened(place)
    const { folder, files } = own
    await this.#sources.keep(own.facts.name, folder, files, signal, this.#progress('keeping'))
    const facts = { ...own.facts, is_kept: true }
    this.#open.set(place, { ...own, facts })
    this.#host.post({ type: 'model_opened', place, model: facts })
    await this.#list()
  }

  async #startFrom(signal: AbortSignal): Promise<void> {
    const { facts } = this.#opened()
    if (facts.has_adapter)
      throw new RangeError(
        'Open the model without its adapter: a run begins with files as they are.',
      )
    if (!facts.is_kept) await this.#keep('first', signal)
    const { config, files, texts } = this.#opened()
    const start = startOf(facts.name, config, files, texts)
    this.#host.post({ type: 'model_start', start })
  }

  #opened(place: ModelPlace = 'first'): Opened {
    const own = this.#open.get(place)
    if (!own) throw new RangeError('There is no model: open its folder first.')
    return own
  }

  async #read(text: string, wants_changes: boolean): Promise<void> {
    this.#opened()
    const readings: ModelReading[] = []
    for (const [place, { model, tokenizer }] of this.#open) {
      const ids = idsOf(text, tokenizer)
      const window = { ids, first: 0, count: ids.length }
      const lens = await model.look(window, tokenizer?.tokens ?? [])
      const changes = wants_changes ? await model.changes(window) : undefined
      readings.push({ place, lens, changes })
    }
    this.#host.post({ type: 'model_read', text, readings })
  }

  async #write(
    { asked, settings }: Extract<ModelCommand, { type: 'write_text' }>,
    signal: AbortSignal,
  ): Promise<void> {
    const { model, tokenizer } = this.#opened()
    const prompt = promptIds(asked, tokenizer)
    const ids = [...prompt]
    const tell = (parts: readonly { id: number; log_prob: number; entropy: number }[]) => {
      ids.push(...parts.map(({ id }) => id))
      this.#conversation = { ids: [...ids], prompt_length: prompt.length }
      this.#host.post({
        type: 'model_written',
        text: textOfIds(ids.slice(prompt.length), tokenizer),
        parts: parts.map(({ id, log_prob, entropy }) => ({
          ...{ entropy, prob: Math.exp(log_prob), token: tokenizer?.tokens[id] ?? `<${id}>` },
        })),
        is_done: false,
      })
    }
    this.#conversation = undefined
    await model.generation.write(prompt, settings, { signal, onTokens: tell })
    const text = textOfIds(ids.slice(prompt.length), tokenizer)
    this.#host.post({ type: 'model_written', text, parts: [], is_done: true })
  }

  /** The window ends with the token itself, so that its own policy is in it. */
  async #lookBack(at: number): Promise<void> {
    const { model, tokenizer } = this.#opened()
    if (!this.#conversation) throw new RangeError('Nothing has been written yet.')
    const { ids, prompt_length } = this.#conversation
    const end = Math.min(ids.length, prompt_length + at + 1)
    const first = Math.max(0, end - BEFORE_TOKEN)
    const window: TextWindow = { ids, first, count: end - first }
    const lens = await model.look(window, tokenizer?.tokens ?? [])
    const changes = await model.changes(window)
    const text = textOfIds(ids.slice(first, end), tokenizer)
    this.#host.post({
      type: 'model_read',
      text,
      readings: [{ place: 'first', lens, changes }],
    })
  }
}
