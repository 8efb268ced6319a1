// Finds the tokens that end a response, and the one that fills rows.
import type { HfTokenizer } from './hf_tokenizer.ts'
import type { TokenizerSettings } from './tokenizer_files.ts'
import { TokenizerFileError } from './tokenizer_json.ts'

/** The ids that a tokenizer's files give to ends and padding. Padding is the end token where they
 * name none, as in verl. Throws TokenizerFileError where they name no end, or one that is no
 * token. */
export function specialIds(
  tokenizer: HfTokenizer,
  { special_tokens, eos_token_ids: listed }: TokenizerSettings,
) {
  const named = (name: string): number | undefined => {
    const text = special_tokens[name]
    if (text === undefined) return undefined
    const id = tokenizer.idOf(text)
    if (id !== undefined) return id
    throw new TokenizerFileError(
      `${name}: ${JSON.stringify(text)} is not a token of tokenizer.json`,
    )
  }
  const size = tokenizer.json.entries.length
  const strange = listed.find((id) => id >= size)
  if (strange !== undefined)
    throw new TokenizerFileError(`eos_token_id: expected ids below ${size}, found ${strange}`)
  const eos_token_id = named('eos_token') ?? listed.at(0)
  if (eos_token_id === undefined)
    throw new TokenizerFileError(
      'eos_token: expected one in tokenizer_config.json, special_tokens_map.json or generation_config.json, found none',
    )
  return {
    eos_token_id,
    eos_token_ids: [...new Set([eos_token_id, ...listed])],
    pad_token_id: named('pad_token') ?? eos_token_id,
  }
}
