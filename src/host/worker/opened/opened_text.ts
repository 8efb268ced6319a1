// Turns text into a model's token ids and back: through the tokenizer and the template of its
// folder, or as token ids where it has none.
import type { RangedFolder } from '../../../formats/ranged_file.ts'
import { shownTexts } from '../../../tasks/data/table/bad_rows.ts'
import { TOKENIZER_FILES } from '../../../tasks/tokenizers/hugging_face/tokenizer_files.ts'
import { loadTokenizer } from '../../../tasks/tokenizers/load_tokenizer.ts'
import type { Tokenizer } from '../../../tasks/tokenizers/tokenizer.ts'
import type { Asked } from '../../protocol/opened_model.ts'
import type { PatternsAlone } from './patterns_alone.ts'

/** The tokenizer of a folder, or why there is none that can be used. */
export interface OpenedText {
  /** Its files, by their names. */
  readonly texts: Readonly<Record<string, string>>
  readonly tokenizer: Tokenizer | undefined
  /** What of it may backtrack without end on a text. */
  readonly patterns: PatternsAlone | undefined
  readonly why_ids: string | undefined
}

/** Tries patterns on a text before it is read; rejects where they do not end. */
export type TryText = (patterns: PatternsAlone | undefined, text: string) => Promise<void>

/** Far above any tokenizer.json, far below what would fill a tab. */
const MOST_BYTES = 2 ** 27

export async function readTokenizer(folder: RangedFolder, tryText?: TryText): Promise<OpenedText> {
  const texts: Record<string, string> = {}
  for (const name of TOKENIZER_FILES) {
    const file = await folder.open(name)
    if (file && file.size <= MOST_BYTES)
      texts[name] = new TextDecoder().decode(await file.read(0, file.size))
  }
  const json = texts['tokenizer.json']
  const none = { texts, tokenizer: undefined, patterns: undefined }
  if (json === undefined) return { ...none, why_ids: 'The folder has no tokenizer.json.' }
  try {
    const { patternsAlone } = await import('./patterns_alone.ts')
    const patterns = patternsAlone(json)
    // Reading it normalizes the texts of its added tokens.
    await tryText?.(patterns, '')
    const tokenizer = await loadTokenizer({ ...texts, 'tokenizer.json': json })
    return { texts, tokenizer, patterns, why_ids: undefined }
  } catch (error) {
    return { ...none, why_ids: error instanceof Error ? error.message : String(error) }
  }
}

/** Whether its template makes a conversation of a message. One that writes the text and nothing
 * else makes none: the lab gives its own models such a one, so that verl leaves prompts as they
 * are. */
export function hasChat(tokenizer: Tokenizer | undefined): boolean {
  const content = 'a'
  if (!tokenizer?.renderChat) return false
  try {
    const options = { add_generation_prompt: true }
    return tokenizer.renderChat([{ role: 'user', content }], options).trim() !== content
  } catch {
    // It refuses this message: what it refuses, it would have changed.
    return true
  }
}

/** What a model cannot read would be lost, and every number would be of another text. Throws
 * RangeError naming it. */
function refuseUnknown(texts: readonly string[], tokenizer: Tokenizer): void {
  const unknown = [...new Set(texts.flatMap((text) => tokenizer.unknownIn(text)))]
  if (unknown.length > 0)
    throw new RangeError(
      `The vocabulary of this model has no ${shownTexts(unknown)}: write the text without ${unknown.length === 1 ? 'it' : 'them'}.`,
    )
}

/** A text that is no special token and has tokens of its own. */
const isReadable = (text: string, tokenizer: Tokenizer): boolean =>
  tokenizer.unknownIn(text).length === 0 &&
  tokenizer.specialIn(text) === undefined &&
  tokenizer.encode(text).length > 0

/** What a tokenizer puts around a text by itself: 'begins with <s>', 'begins with [CLS] and ends
 * with [SEP]'; '' where it adds nothing. */
export function specialWords(tokenizer: Tokenizer | undefined): string {
  // The vocabularies of the lab's own tasks add nothing.
  if (!tokenizer?.files) return ''
  const text = ['a', '1', ...tokenizer.tokens.slice(0, 256)].find((one) =>
    isReadable(one, tokenizer),
  )
  if (text === undefined) return ''
  const plain = tokenizer.encode(text)
  const whole = tokenizer.encode(text, { add_special_tokens: true })
  const begin = whole.findIndex((_, at) => plain.every((id, i) => whole[at + i] === id))
  const named = (ids: readonly number[]) => ids.map((id) => tokenizer.tokens[id]).join('')
  const [before, after] = [whole.slice(0, begin), whole.slice(begin + plain.length)]
  return [
    before.length > 0 && `begins with ${named(before)}`,
    after.length > 0 && `ends with ${named(after)}`,
  ]
    .filter(Boolean)
    .join(' and ')
}

/** The ids of a text, as transformers' tokenizer(text) gives them; of a model without a tokenizer,
 * '12 7 3' as ids. Throws RangeError. `add_special_tokens`: with what the tokenizer puts around a
 * text. */
export function idsOf(
  text: string,
  tokenizer: Tokenizer | undefined,
  add_special_tokens: boolean,
): readonly number[] {
  if (tokenizer) {
    refuseUnknown([text], tokenizer)
    return tokenizer.encode(text, { add_special_tokens })
  }
  const parts = text.split(/[\s,]+/).filter(Boolean)
  const strange = parts.find((part) => !/^\d{1,9}$/.test(part))
  if (strange !== undefined)
    throw new RangeError(`Expected token ids, such as 12 7 3, found ${JSON.stringify(strange)}.`)
  return parts.map(Number)
}

/** What a model continues, as text. Throws RangeError where it has no template for a
 * conversation. */
export function promptText(asked: Asked, tokenizer: Tokenizer | undefined): string {
  if ('text' in asked) return asked.text
  if (!tokenizer?.renderChat)
    throw new RangeError('This model has no chat template: write it a text to continue instead.')
  const messages = asked.messages.map((turn) => ({ ...turn }))
  return tokenizer.renderChat(messages, { add_generation_prompt: true })
}

/** What a model continues, as ids. Throws RangeError where it has no template for a
 * conversation. */
export function promptIds(asked: Asked, tokenizer: Tokenizer | undefined): readonly number[] {
  const text = promptText(asked, tokenizer)
  if ('text' in asked) return idsOf(text, tokenizer, asked.add_special_tokens)
  if (!tokenizer) return idsOf(text, tokenizer, false)
  // Words of the template are its own affair.
  refuseUnknown(
    asked.messages.map(({ content }) => `${content}`),
    tokenizer,
  )
  // The template writes the beginning token itself.
  return tokenizer.encode(text, { add_special_tokens: false })
}

/** Written ids as text, without their end token; ids by number where there is no tokenizer. */
export const textOfIds = (ids: readonly number[], tokenizer: Tokenizer | undefined): string =>
  tokenizer ? tokenizer.decode(ids, { skip_special_tokens: true }) : ids.join(' ')
