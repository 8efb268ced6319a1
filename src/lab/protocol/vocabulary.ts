// What the page knows of the vocabulary, which all tasks share.
import { tokenizer } from '../../tasks/tokenizers/characters.ts'

/** V: tokens that every policy chooses from. */
export const VOCAB_SIZE = tokenizer.vocab_size
/** Largest entropy that a policy can have, ln V nats: all tokens alike. */
export const MAX_ENTROPY = Math.log(VOCAB_SIZE)

export const PAD_TOKEN = tokenizer.tokens[tokenizer.pad_token_id]
export const EOS_TOKEN = tokenizer.tokens[tokenizer.eos_token_id]
