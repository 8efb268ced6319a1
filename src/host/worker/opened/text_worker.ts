// Tries how long the patterns of a tokenizer take on a text, in a thread that can be ended. What it
// makes of the text is not used.
import { decoderOf } from '../../../tasks/tokenizers/hugging_face/decoders.ts'
import { HfTokenizer } from '../../../tasks/tokenizers/hugging_face/hf_tokenizer.ts'
import { parseTokenizerJson } from '../../../tasks/tokenizers/hugging_face/tokenizer_json.ts'
import type { TrialRequest } from './text_trial.ts'

let known: { readonly json: string; readonly tokenizer: HfTokenizer } | undefined

addEventListener('message', ({ data: { json, text } }: MessageEvent<TrialRequest>) => {
  try {
    if (known?.json !== json) known = { json, tokenizer: new HfTokenizer(parseTokenizerJson(json)) }
    known.tokenizer.encode(text)
    decoderOf(known.tokenizer.json.decoder)([text])
  } catch {
    // Whoever asked meets the error too, and says it.
  }
  postMessage('ended')
})
