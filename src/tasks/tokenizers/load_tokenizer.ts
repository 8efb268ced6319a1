// Loads the tokenizer of a Hugging Face model folder as the lab's own. What reads it is loaded when
// it is asked for.

import type { TokenizerFiles } from './hugging_face/tokenizer_files.ts'
import type { Tokenizer } from './tokenizer.ts'

/** Reads the files of a tokenizer. Throws TokenizerFileError for files that are none, or that have
 * a part which cannot be followed exactly: the ids would be others than those of transformers. */
export async function loadTokenizer(files: TokenizerFiles): Promise<Tokenizer> {
  const { HfTokenizer } = await import('./hugging_face/hf_tokenizer.ts')
  const { parseTokenizerJson } = await import('./hugging_face/tokenizer_json.ts')
  const { readTokenizerSettings } = await import('./hugging_face/tokenizer_files.ts')
  const { specialIds } = await import('./hugging_face/special_ids.ts')
  const { chatTemplate } = await import('./hugging_face/chat_template.ts')
  const { tokenTexts } = await import('./hugging_face/token_text.ts')
  const tokenizer = new HfTokenizer(parseTokenizerJson(files['tokenizer.json']))
  const settings = readTokenizerSettings(files)
  const ends = specialIds(tokenizer, settings)
  const template = settings.chat_templates.get('default')
  let tokens: readonly string[] | undefined
  return {
    get tokens() {
      tokens ??= tokenTexts(tokenizer.json)
      return tokens
    },
    vocab_size: tokenizer.json.entries.length,
    ...ends,
    special_ids: new Set([...tokenizer.special_ids, ...ends.eos_token_ids, ends.pad_token_id]),
    encode: (text, options) => tokenizer.encode(text, options),
    decode: (ids, options) => tokenizer.decode(beforeEnd(ids, ends.eos_token_ids), options),
    specialIn: (text) => tokenizer.specialIn(text),
    unknownIn: (text) => tokenizer.unknownIn(text),
    ...(template && {
      renderChat: chatTemplate(template.text, settings.special_tokens, template.file),
    }),
    files,
  }
}

function beforeEnd(ids: ArrayLike<number>, ends: readonly number[]): ArrayLike<number> {
  for (let i = 0; i < ids.length; i++)
    if (ends.includes(ids[i])) return Array.from({ length: i }, (_, k) => ids[k])
  return ids
}
