// Says what a tokenizer puts around a text, so that ids are no surprise.
import { specialWords } from '../../host/worker/opened/opened_text.ts'
import type { Tokenizer } from '../../tasks/tokenizers/tokenizer.ts'
import { tell } from '../base/terminal.ts'

/** One line beside the output; none where nothing is added. */
export function tellSpecial(tokenizer: Tokenizer): void {
  const words = specialWords(tokenizer)
  if (words !== '')
    tell(`The text ${words}, as in transformers; --no-special-tokens leaves it out.`)
}
