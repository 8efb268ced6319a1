// Checks a tokenizer folder against what transformers makes of texts, of ids and of conversations:
// all of it exact.
import { existsSync, readFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { readJson } from '../src/cli/input/input_file.ts'
import {
  type ChatMessage,
  chatTemplate,
  type RenderChat,
} from '../src/tasks/tokenizers/hugging_face/chat_template.ts'
import { HfTokenizer } from '../src/tasks/tokenizers/hugging_face/hf_tokenizer.ts'
import {
  readTokenizerSettings,
  TOKENIZER_FILES,
  type TokenizerFiles,
  type TokenizerSettings,
} from '../src/tasks/tokenizers/hugging_face/tokenizer_files.ts'
import { parseTokenizerJson } from '../src/tasks/tokenizers/hugging_face/tokenizer_json.ts'
import type { Check, Output } from './base/report.ts'

interface Decoded {
  readonly ids: readonly number[]
  readonly decoded: string
  readonly decoded_skip_special: string
}

interface Encoded extends Decoded {
  readonly text: string
  readonly tokens: readonly string[]
  readonly ids_with_special: readonly number[]
}

interface Chat {
  readonly name: string
  /** The file that the template is in; the one of tokenizer_config.json where there is none. */
  readonly template?: string
  readonly messages: readonly ChatMessage[]
  readonly kwargs: Readonly<Record<string, unknown>>
  readonly text: string
  readonly ids: readonly number[]
}

interface Expected {
  readonly encode?: readonly Encoded[]
  readonly decode?: readonly Decoded[]
  readonly chat?: readonly Chat[]
}

/** The checks of one folder. */
export async function* tokenizerCase(folder: string): AsyncGenerator<Check> {
  const name = basename(resolve(folder))
  const expected = readJson(join(folder, 'expected.json')) as Expected
  const files = readTokenizerFiles(folder)
  const tokenizer = new HfTokenizer(parseTokenizerJson(files['tokenizer.json']))
  const settings = readTokenizerSettings(files)
  for (const [i, one] of (expected.encode ?? []).entries())
    yield check(`${name}/encode_${i}`, {
      ...encoded(tokenizer, one),
      ...decoded(tokenizer, one),
    })
  for (const [i, one] of (expected.decode ?? []).entries())
    yield check(`${name}/decode_${i}`, decoded(tokenizer, one))
  for (const one of expected.chat ?? []) {
    const text = rendererOf(folder, settings, one.template)(one.messages, one.kwargs)
    yield check(`${name}/chat_${one.name}`, {
      text: [text, one.text],
      ids: [tokenizer.encode(text), one.ids],
    })
  }
}

function readTokenizerFiles(folder: string): TokenizerFiles {
  const found = TOKENIZER_FILES.filter((file) => existsSync(join(folder, file)))
  const texts = found.map((file) => [file, readFileSync(join(folder, file), 'utf8')])
  return Object.fromEntries(texts) as TokenizerFiles
}

function rendererOf(
  folder: string,
  { special_tokens, chat_templates }: TokenizerSettings,
  file = 'tokenizer_config.json',
): RenderChat {
  const inConfig = chat_templates.get('default')
  const text =
    file === 'tokenizer_config.json' && inConfig
      ? inConfig.text
      : readFileSync(join(folder, file), 'utf8')
  return chatTemplate(text, special_tokens, file)
}

type Pairs = Readonly<Record<string, readonly [actual: unknown, expected: unknown]>>

const encoded = (tokenizer: HfTokenizer, one: Encoded): Pairs => {
  const ids = tokenizer.encode(one.text)
  return {
    ids: [ids, one.ids],
    tokens: [tokenizer.tokensOf(ids), one.tokens],
    ids_with_special: [
      tokenizer.encode(one.text, { add_special_tokens: true }),
      one.ids_with_special,
    ],
  }
}

const decoded = (tokenizer: HfTokenizer, { ids, ...one }: Decoded): Pairs => ({
  decoded: [tokenizer.decode(ids), one.decoded],
  decoded_skip_special: [
    tokenizer.decode(ids, { skip_special_tokens: true }),
    one.decoded_skip_special,
  ],
})

function check(name: string, pairs: Pairs): Check {
  const outputs = Object.entries(pairs).map(([key, [actual, expected]]): [string, Output] => [
    key,
    { actual, expected, tolerance: 'exact' },
  ])
  return { case: name, on: 'driver', outputs: Object.fromEntries(outputs) }
}
