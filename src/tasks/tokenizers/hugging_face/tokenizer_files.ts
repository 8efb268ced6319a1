// Reads the files that make a tokenizer in a Hugging Face model folder, and what they say together.
import { foreignText, foreignWords } from '../../../formats/first_bytes.ts'
import { isObject } from '../../../formats/json.ts'
import { parseRecord, TokenizerFileError } from './tokenizer_json.ts'

/** Texts of the files, by their names; only the first is required. */
export type TokenizerFiles = {
  readonly 'tokenizer.json': string
  readonly 'tokenizer_config.json'?: string | undefined
  readonly 'special_tokens_map.json'?: string | undefined
  readonly 'generation_config.json'?: string | undefined
  /** Wins over a template in tokenizer_config.json. */
  readonly 'chat_template.jinja'?: string | undefined
}

/** The names of all of them. */
export const TOKENIZER_FILES: readonly (keyof TokenizerFiles)[] = [
  'tokenizer.json',
  'tokenizer_config.json',
  'special_tokens_map.json',
  'generation_config.json',
  'chat_template.jinja',
]

/** What the files besides tokenizer.json say. */
export interface TokenizerSettings {
  /** Texts of bos_token, eos_token, pad_token and so on, by these names. */
  readonly special_tokens: Readonly<Record<string, string>>
  /** Ids that end generation, as generation_config.json lists them. */
  readonly eos_token_ids: readonly number[]
  /** Templates by name, each with the file that it is in; the one that is used by itself is called
   * default. */
  readonly chat_templates: ReadonlyMap<string, { readonly text: string; readonly file: string }>
}

const CONFIG = 'tokenizer_config.json'
const TEMPLATE = 'chat_template.jinja'
const SPECIAL = ['bos_token', 'eos_token', 'pad_token', 'unk_token', 'sep_token', 'cls_token']

/** Throws TokenizerFileError for files that are not what their names say. */
export function readTokenizerSettings(files: TokenizerFiles): TokenizerSettings {
  const record = (name: keyof TokenizerFiles) => {
    const text = files[name]
    return text === undefined ? {} : parseRecord(text, name)
  }
  const config = record(CONFIG)
  return {
    special_tokens: {
      ...specialTokens(record('special_tokens_map.json')),
      ...specialTokens(config),
    },
    eos_token_ids: endIds(record('generation_config.json').eos_token_id),
    chat_templates: templatesOf(config.chat_template, files['chat_template.jinja']),
  }
}

/** A token is written as its text, or as an object with its text as content. */
function specialTokens(config: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(
    SPECIAL.flatMap((name) => {
      const token = config[name]
      const text = isObject(token) ? token.content : token
      return typeof text === 'string' ? [[name, text]] : []
    }),
  )
}

function endIds(ids: unknown): readonly number[] {
  const list = ids === undefined || ids === null ? [] : Array.isArray(ids) ? ids : [ids]
  if (list.every((id) => Number.isInteger(id) && id >= 0)) return list as number[]
  throw new TokenizerFileError(
    `generation_config.json: eos_token_id: expected an id or a list of ids, found ${JSON.stringify(ids)}`,
  )
}

function templatesOf(
  chatTemplate: unknown,
  file: string | undefined,
): TokenizerSettings['chat_templates'] {
  const templates = new Map<string, { text: string; file: string }>()
  const put = (name: unknown, text: unknown) => {
    if (typeof name !== 'string' || typeof text !== 'string')
      throw new TokenizerFileError(
        `${CONFIG}: chat_template: expected a text, or a list of {name, template}`,
      )
    templates.set(name, { text, file: CONFIG })
  }
  if (Array.isArray(chatTemplate))
    for (const one of chatTemplate) put(isObject(one) && one.name, isObject(one) && one.template)
  else if (isObject(chatTemplate))
    for (const [name, text] of Object.entries(chatTemplate)) put(name, text)
  else if (chatTemplate !== undefined && chatTemplate !== null) put('default', chatTemplate)
  if (file !== undefined) {
    // A pointer is text, so it would be taken for a template that says the same to every message.
    const found = file === '' ? undefined : foreignText(file)
    if (found)
      throw new TokenizerFileError(
        `${TEMPLATE}: expected a chat template in Jinja, found ${foreignWords(found)}`,
      )
    templates.set('default', { text: file, file: TEMPLATE })
  }
  return templates
}
