// Writes a vocabulary of whole tokens as tokenizer.json, tokenizer_config.json and
// chat_template.jinja: Hugging Face's tokenizers read it in Python, Rust and JavaScript and give
// the same ids.

/** What is needed of a tokenizer. */
export interface Vocabulary {
  /** Text of every id. */
  readonly tokens: readonly string[]
  readonly pad_token_id: number
  readonly eos_token_id: number
  /** Every end token, that one first; absent where there is one. */
  readonly eos_token_ids?: readonly number[]
  /** The files of a tokenizer that is more than a list of words, by name: they are written as they
   * are. */
  readonly files?: Readonly<Record<string, string | undefined>>
}

/** The end token's name outside: verl's templates of Qwen's family look for it. */
const END_TOKEN = '<|im_end|>'

/** A conversation is the texts of its messages, one after the other, and nothing between them. */
export const CHAT_TEMPLATE = "{% for m in messages %}{{ m['content'] }}{% endfor %}"

/** Whether a line break has tokens. Without them it becomes the padding token, wherever a template
 * puts it. */
export const hasNewline = ({ tokens, files }: Pick<Vocabulary, 'tokens' | 'files'>): boolean =>
  files !== undefined || tokens.includes('\n')

/** The fields of tokenizer.json: a table of words, each cut off by a pattern (the longest one
 * first, and any single character), and decoded by joining. Text that is in no word becomes the
 * padding token. Throws RangeError where two ids have one text. */
export function tokenizerJson(vocabulary: Vocabulary): Record<string, unknown> {
  const names = namesOf(vocabulary)
  const { pad_token_id, eos_token_id } = vocabulary
  const special = (id: number) => ({
    id,
    content: names[id],
    single_word: false,
    lstrip: false,
    rstrip: false,
    normalized: false,
    special: true,
  })
  const vocab = Object.fromEntries(names.map((name, id) => [name, id]))
  if (Object.keys(vocab).length < names.length)
    throw new RangeError('tokenizer: expected a text of its own for every token')
  return {
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: [...new Set([pad_token_id, eos_token_id])].sort((a, b) => a - b).map(special),
    normalizer: null,
    pre_tokenizer: {
      type: 'Split',
      pattern: { Regex: pieces(names, [pad_token_id, eos_token_id]) },
      behavior: 'Isolated',
      invert: false,
    },
    post_processor: null,
    decoder: { type: 'Fuse' },
    model: { type: 'WordLevel', vocab, unk_token: names[pad_token_id] },
  }
}

/** The fields of tokenizer_config.json. transformers 4 reads the template from here, newer versions
 * from its own file too. */
export function tokenizerConfig(vocabulary: Vocabulary, model_max_length: number) {
  const pad_token = namesOf(vocabulary)[vocabulary.pad_token_id]
  return {
    tokenizer_class: 'PreTrainedTokenizerFast',
    model_max_length,
    eos_token: END_TOKEN,
    pad_token,
    unk_token: pad_token,
    clean_up_tokenization_spaces: false,
    chat_template: CHAT_TEMPLATE,
  }
}

const namesOf = ({ tokens, eos_token_id }: Vocabulary): string[] =>
  tokens.map((token, id) => (id === eos_token_id ? END_TOKEN : token))

/** The pattern that cuts a text: every token of several characters, the longest first, or else one
 * character. */
function pieces(names: readonly string[], special: readonly number[]): string {
  const long = names.filter((name, id) => !special.includes(id) && [...name].length > 1)
  long.sort((a, b) => b.length - a.length)
  return [...long.map((name) => name.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')), '[\\s\\S]'].join('|')
}
