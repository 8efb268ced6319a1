// Makes tokenizers in which a character is a token: from an alphabet, or from the texts of
// somebody's own data.
import type { Tokenizer } from './tokenizer.ts'

const PAD = 0
const EOS = 1
/** The special tokens of every such tokenizer. No character of a text is as long, so none can be
 * mistaken for them. */
export const PAD_TOKEN = '<pad>'
export const EOS_TOKEN = '<eos>'
/** An id behind the last token: a model with more rows than there are tokens may sample one. */
const NO_TOKEN = '\ufffd'

/** A token for each character (Unicode code point) of `alphabet`, in its order, behind padding (id
 * 0) and the end token (id 1). `encode` adds neither of the two. Throws RangeError for an empty
 * alphabet and for a character that occurs twice. */
export function characters(alphabet: string): Tokenizer {
  const tokens = [PAD_TOKEN, EOS_TOKEN, ...alphabet]
  const idOf = new Map(tokens.map((token, id) => [token, id] as const))
  if (tokens.length === 2) throw new RangeError('characters: expected an alphabet, got nothing')
  if (idOf.size < tokens.length) {
    const twice = tokens.find((token, id) => idOf.get(token) !== id)
    throw new RangeError(
      `characters: expected each character once, got ${JSON.stringify(twice)} twice`,
    )
  }
  return {
    tokens,
    vocab_size: tokens.length,
    pad_token_id: PAD,
    eos_token_id: EOS,
    eos_token_ids: [EOS],
    special_ids: new Set([PAD, EOS]),
    // No text holds a special token: their names are longer than a character.
    specialIn: () => undefined,
    unknownIn: (text) => [...new Set(text)].filter((character) => !idOf.has(character)),
    encode: (text) =>
      Array.from(text, (character) => {
        const id = idOf.get(character)
        if (id === undefined)
          throw new RangeError(
            `encode: expected characters of ${JSON.stringify(alphabet)}, got ${JSON.stringify(character)} in ${JSON.stringify(text)}`,
          )
        return id
      }),
    decode: (ids, { skip_special_tokens = false } = {}) => {
      let text = ''
      for (let i = 0; i < ids.length && ids[i] !== EOS; i++) {
        if (!(skip_special_tokens && ids[i] === PAD)) text += tokens[ids[i]] ?? NO_TOKEN
      }
      return text
    },
  }
}

/** The characters that occur in `texts`, each once, sorted by code point: the same texts in any
 * order give the same alphabet. */
export function alphabetOf(texts: Iterable<string>): string {
  const found = new Set<string>()
  for (const text of texts) for (const character of text) found.add(character)
  const codeOf = (character: string) => character.codePointAt(0) ?? 0
  return [...found].sort((a, b) => codeOf(a) - codeOf(b)).join('')
}
