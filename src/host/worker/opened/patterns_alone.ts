// Makes a tokenizer with its patterns alone, to try in another thread how long they take: its
// vocabulary, nearly all of its bytes, stays behind.
import { expressionsIn } from '../../../tasks/tokenizers/hugging_face/pieces.ts'
import { parseRecord } from '../../../tasks/tokenizers/hugging_face/tokenizer_json.ts'

export interface PatternsAlone {
  /** A tokenizer.json that cuts texts as the whole one does; every word is the one unknown
   * token. */
  readonly json: string
  /** Its expressions, as messages name them; there is at least one. */
  readonly expressions: readonly string[]
}

const UNKNOWN = '<unknown>'

/** Undefined where nothing can backtrack. Throws TokenizerFileError for a text that is no JSON. */
export function patternsAlone(text: string): PatternsAlone | undefined {
  const { normalizer, pre_tokenizer, decoder, added_tokens } = parseRecord(text, 'tokenizer.json')
  const expressions = expressionsIn([normalizer, pre_tokenizer, decoder])
  if (expressions.length === 0) return undefined
  const added = Array.isArray(added_tokens) ? added_tokens : []
  const json = JSON.stringify({
    normalizer,
    pre_tokenizer,
    decoder,
    post_processor: null,
    model: { type: 'WordLevel', vocab: { [UNKNOWN]: 0 }, unk_token: UNKNOWN },
    added_tokens: added.map((token: object, i) => ({ ...token, id: i + 1 })),
  })
  return { json, expressions }
}
