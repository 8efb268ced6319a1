// One vocabulary for every task: a character is a token, so that a model can be moved between tasks.
import type { Tokenizer } from '../task.ts'

const PAD = 0
const EOS = 1

/** 26 tokens in all: two special ones, ten digits, fourteen signs. */
const tokens = ['<pad>', '<eos>', ...'0123456789', ...'+-*/%=>,()[]{}']

const idOf = new Map(tokens.map((token, id) => [token, id] as const))

/** The tokenizer of all tasks. `encode` adds neither padding nor an end token. */
export const tokenizer: Tokenizer = {
  tokens,
  vocab_size: tokens.length,
  pad_token_id: PAD,
  eos_token_id: EOS,
  encode: (text) =>
    Array.from(text, (character) => {
      const id = idOf.get(character)
      if (id === undefined)
        throw new RangeError(
          `encode: expected characters of ${tokens.slice(2).join('')}, got ${JSON.stringify(character)} in ${JSON.stringify(text)}`,
        )
      return id
    }),
  decode: (ids) => {
    let text = ''
    for (let i = 0; i < ids.length && ids[i] !== EOS; i++) {
      const token = tokens[ids[i]]
      if (token === undefined)
        throw new RangeError(`decode: expected ids below ${tokens.length}, got ${ids[i]}`)
      text += token
    }
    return text
  },
}
