// The model that a person looks at in the worker: opened from files, read text by text, closed. It has a device of its own, so that a run
// in progress neither waits for it nor is touched by it.
import type { HfModel } from '../../../model/hf/hf_model.ts'
import type { Tokenizer } from '../../../tasks/task.ts'
import { TOKENIZER_FILES } from '../../../tasks/tokenizers/hugging_face/tokenizer_files.ts'
import { loadTokenizer } from '../../../tasks/tokenizers/load_tokenizer.ts'
import type { Lens } from '../../protocol/observation.ts'
import type { ModelCommand, ModelEvent, OpenedModelFacts } from '../../protocol/opened_model.ts'

/** What the worker brings: the GPU side. */
export interface ModelHost {
  /** Reads files into a model; throws errors whose messages are sentences. */
  readonly read: (files: readonly File[], adapter: readonly File[]) => Promise<HfModel>
  readonly open: (model: HfModel) => Promise<LookedAt>
  readonly post: (event: ModelEvent) => void
}

/** A model on a device. */
export interface LookedAt {
  readonly adapter: string
  look(ids: readonly number[], tokens: readonly string[]): Promise<Lens>
  close(): void
}

/** One model at a time. */
export class ModelReader {
  readonly #host: ModelHost
  #model: LookedAt | undefined
  #tokenizer: Tokenizer | undefined
  #tail: Promise<void> = Promise.resolve()

  constructor(host: ModelHost) {
    this.#host = host
  }

  /** Acts on a command, one after the other. Never throws: what goes wrong is posted as `model_failed`. */
  handle(command: ModelCommand): void {
    this.#tail = this.#tail.then(() => this.#act(command))
  }

  /** Resolves when everything asked for so far is done. */
  get idle(): Promise<void> {
    return this.#tail
  }

  async #act(command: ModelCommand): Promise<void> {
    try {
      if (command.type === 'open_model') await this.#open(command.files, command.adapter)
      else if (command.type === 'read_text') await this.#read(command.text)
      else this.#close()
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      this.#host.post({ type: 'model_failed', message, is_open: this.#model !== undefined })
    }
  }

  #close(): void {
    this.#model?.close()
    this.#model = undefined
    this.#tokenizer = undefined
  }

  async #open(files: readonly File[], adapter: readonly File[]): Promise<void> {
    this.#close()
    const hf = await this.#host.read(files, adapter)
    const { tokenizer, why } = await tokenizerOf(files)
    const model = await this.#host.open(hf)
    this.#model = model
    this.#tokenizer = tokenizer
    const { model_type, num_hidden_layers, hidden_size, vocab_size } = hf.config
    const facts: OpenedModelFacts = {
      ...{ model_type, num_hidden_layers, hidden_size, vocab_size, dtype: hf.dtype },
      num_parameters: hf.layout.num_parameters,
      gpu: model.adapter,
      has_adapter: adapter.length > 0,
      why_ids: why,
    }
    this.#host.post({ type: 'model_opened', model: facts })
  }

  async #read(text: string): Promise<void> {
    if (!this.#model) throw new RangeError('There is no model: open its folder first.')
    const ids = this.#tokenizer ? this.#tokenizer.encode(text) : idsOf(text)
    const lens = await this.#model.look(ids, this.#tokenizer?.tokens ?? [])
    this.#host.post({ type: 'model_read', text, lens })
  }
}

/** The tokenizer of a folder, or why there is none that can be used. */
async function tokenizerOf(
  files: readonly File[],
): Promise<{ readonly tokenizer?: Tokenizer; readonly why: string | undefined }> {
  const texts: Record<string, string> = {}
  for (const name of TOKENIZER_FILES) {
    const file = files.find((one) => one.name === name)
    if (file) texts[name] = await file.text()
  }
  const json = texts['tokenizer.json']
  if (json === undefined) return { why: 'The folder has no tokenizer.json.' }
  try {
    return { tokenizer: await loadTokenizer({ ...texts, 'tokenizer.json': json }), why: undefined }
  } catch (error) {
    return { why: error instanceof Error ? error.message : String(error) }
  }
}

/** '12 7 3' as ids. Throws RangeError. */
function idsOf(text: string): number[] {
  const parts = text.split(/[\s,]+/).filter(Boolean)
  const strange = parts.find((part) => !/^\d{1,9}$/.test(part))
  if (strange !== undefined)
    throw new RangeError(`Expected token ids, such as 12 7 3, found ${JSON.stringify(strange)}.`)
  return parts.map(Number)
}
