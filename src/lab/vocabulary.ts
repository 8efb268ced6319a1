// What the page knows of the vocabulary, which all tasks share.
import { tokenizer } from '../tasks/tokenizer.ts'

/** ln V, in nats: the entropy of a policy that knows nothing. */
export const MAX_ENTROPY = Math.log(tokenizer.vocab_size)

export const PAD_TOKEN = tokenizer.tokens[tokenizer.pad_token_id]
export const EOS_TOKEN = tokenizer.tokens[tokenizer.eos_token_id]
