// Reads texts with open models and writes with the first of them, in the worker.
import type { TextWindow } from '../../../model/internals/lens_window.ts'
import { MOST_READ } from '../../../rl/look/observation.ts'
import type { OpenedModel } from '../../../rl/look/opened_model.ts'
import type {
  ModelCommand,
  ModelEvent,
  ModelPlace,
  ModelReading,
} from '../../protocol/opened_model.ts'
import {
  idsOf,
  type OpenedText,
  promptIds,
  promptText,
  type TryText,
  textOfIds,
} from './opened_text.ts'

/** A model on a device. */
export type LookedAt = Pick<
  OpenedModel,
  'adapter' | 'bytes' | 'look' | 'changes' | 'parts' | 'direct' | 'steer' | 'close'
> & {
  readonly generation: Pick<OpenedModel['generation'], 'write' | 'isEnd'>
}

/** A model and the tokenizer of its folder. */
type Talking = Pick<OpenedText, 'tokenizer' | 'patterns'> & { readonly model: LookedAt }

/** Positions that are read of what a token was written after: so many as fill a screen. */
const BEFORE_TOKEN = 24

export class ModelTalk {
  readonly #post: (event: ModelEvent) => void
  readonly #tryText: TryText | undefined
  /** Prompt and what was written last. */
  #conversation: { readonly ids: readonly number[]; readonly prompt_length: number } | undefined

  constructor(post: (event: ModelEvent) => void, tryText: TryText | undefined) {
    this.#post = post
    this.#tryText = tryText
  }

  /** What was written is no longer looked back at: its model is gone. */
  forget(): void {
    this.#conversation = undefined
  }

  /** What every layer of every model says of a text. */
  async read(
    models: Iterable<readonly [ModelPlace, Talking]>,
    {
      text,
      add_special_tokens,
      wants_changes,
      wants_parts,
    }: Extract<ModelCommand, { type: 'read_text' }>,
    signal: AbortSignal,
  ): Promise<void> {
    const readings: ModelReading[] = []
    for (const [place, { model, tokenizer, patterns }] of models) {
      await this.#tryText?.(patterns, text)
      const ids = idsOf(text, tokenizer, add_special_tokens)
      // Of a longer text its end; what each part does is measured of a whole one.
      const first = wants_parts ? 0 : Math.max(0, ids.length - MOST_READ)
      const window = { ids, first, count: ids.length - first }
      const lens = await model.look(window, tokenizer?.tokens ?? [])
      const changes = wants_changes ? await model.changes(window) : undefined
      const parts = wants_parts ? await model.parts(ids, signal) : undefined
      readings.push({ place, lens, before: first, changes, parts })
    }
    this.#post({ type: 'model_read', text, readings })
  }

  async write(
    { model, tokenizer, patterns }: Talking,
    { asked, settings }: Extract<ModelCommand, { type: 'write_text' }>,
    signal: AbortSignal,
  ): Promise<void> {
    await this.#tryText?.(patterns, promptText(asked, tokenizer))
    const prompt = promptIds(asked, tokenizer)
    const ids = [...prompt]
    const tell = (parts: readonly { id: number; log_prob: number; entropy: number }[]) => {
      ids.push(...parts.map(({ id }) => id))
      this.#conversation = { ids: [...ids], prompt_length: prompt.length }
      this.#post({
        type: 'model_written',
        text: textOfIds(ids.slice(prompt.length), tokenizer),
        parts: parts.map(({ id, log_prob, entropy }) => ({
          entropy,
          prob: Math.exp(log_prob),
          token: tokenizer?.tokens[id] ?? `<${id}>`,
        })),
        is_done: false,
      })
    }
    this.forget()
    const written = await model.generation.write(prompt, settings, { signal, onTokens: tell })
    const text = textOfIds(ids.slice(prompt.length), tokenizer)
    const is_cut = !signal.aborted && !written.some(({ id }) => model.generation.isEnd(id))
    this.#post({ type: 'model_written', text, parts: [], is_done: true, is_cut })
  }

  /** Two empty texts end what there was. */
  async direct(
    { model, tokenizer, patterns }: Talking,
    { toward, away }: Extract<ModelCommand, { type: 'direct_model' }>,
  ): Promise<void> {
    const texts = [toward, away]
    for (const text of texts) await this.#tryText?.(patterns, text)
    const [to, from] = texts.map((text) => (text === '' ? [] : idsOf(text, tokenizer, false)))
    const isNone = toward === '' && away === ''
    const sizes = await model.direct(isNone ? undefined : [to, from])
    this.#post({ type: 'model_directed', sizes })
  }

  /** The window ends with the token itself, so that its own policy is in it. */
  async lookBack({ model, tokenizer }: Talking, at: number): Promise<void> {
    if (!this.#conversation) throw new RangeError('Nothing has been written yet.')
    const { ids, prompt_length } = this.#conversation
    const end = Math.min(ids.length, prompt_length + at + 1)
    const first = Math.max(0, end - BEFORE_TOKEN)
    const window: TextWindow = { ids, first, count: end - first }
    const lens = await model.look(window, tokenizer?.tokens ?? [])
    // Each was written by the policy one place before it; before the first token there is none.
    const written = Math.min(at + 1, end - 1 - first)
    const changes =
      written > 0
        ? await model.changes({ ids, first: end - 1 - written, count: written })
        : undefined
    const text = textOfIds(ids.slice(first, end), tokenizer)
    this.#post({
      type: 'model_read',
      text,
      readings: [{ place: 'first', lens, before: 0, written, changes, parts: undefined }],
    })
  }
}
