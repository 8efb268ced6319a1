// The vocabulary that entropies are measured against.
import { tokenizer } from '../tasks/tokenizer.ts'

/** V: tokens that every policy chooses from. */
export const VOCAB_SIZE = tokenizer.vocab_size
/** Largest entropy that a policy can have, in nats: all tokens alike. */
export const MAX_ENTROPY = Math.log(VOCAB_SIZE)
