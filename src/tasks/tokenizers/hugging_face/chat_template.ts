// Chat templates as transformers renders them: Jinja with trim_blocks and lstrip_blocks, through @huggingface/jinja.
import { Environment, Interpreter, parse, tokenize } from '@huggingface/jinja'
import { TokenizerFileError } from './tokenizer_json.ts'

/** One message of a conversation. Templates read further fields, such as tool_calls, by their own names. */
export interface ChatMessage {
  readonly role: string
  readonly content: unknown
  readonly [field: string]: unknown
}

/** As transformers' apply_chat_template names them. Whatever else a template reads is passed on under its name. */
export interface ChatOptions {
  /** Ends with what begins an answer. */
  readonly add_generation_prompt?: boolean
  /** Functions that the model may call, as JSON schemas. */
  readonly tools?: readonly object[] | undefined
  readonly enable_thinking?: boolean
  readonly [name: string]: unknown
}

/** Throws RangeError with the template's own words where it refuses the messages, and where it never ends. */
export type RenderChat = (messages: readonly ChatMessage[], options?: ChatOptions) => string

/** Far above what a long conversation needs (300 for one of two turns with Qwen 3's template), and at most a few seconds. */
const MOST_STEPS = 200_000
const MOST_CHARACTERS = 10_000_000

/** What the interpreter wraps: a list of wrapped values, a Map of them, or a plain value. */
const innerOf = (wrapped: unknown): unknown =>
  typeof wrapped === 'object' && wrapped !== null && 'value' in wrapped ? wrapped.value : undefined

/** Values within values, and characters, that all steps together may handle. */
const MOST_VALUES = 10_000_000

/** Ends a template that loops or grows without end: a template comes from a file, and rendering cannot be interrupted. */
class BoundedInterpreter extends Interpreter {
  #steps = 0
  #values = 0
  #characters = 0

  override evaluate(...args: Parameters<Interpreter['evaluate']>) {
    const value = super.evaluate(...args)
    const { value: inner } = value
    // A loop with an empty body evaluates nothing but its list.
    this.#steps += 1 + (Array.isArray(inner) ? inner.length : 0)
    if (this.#steps > MOST_STEPS) throw new Error(`it took more than ${MOST_STEPS} steps`)
    if (typeof inner === 'string') this.#count(inner)
    else this.#walk(value)
    return value
  }

  #count(text: string): void {
    this.#characters += text.length
    if (text.length > MOST_CHARACTERS)
      throw new Error(`it wrote more than ${MOST_CHARACTERS} characters`)
    if (this.#characters > 20 * MOST_CHARACTERS)
      throw new Error(`its steps handled more than ${20 * MOST_CHARACTERS} characters`)
  }

  /** Counts what a list or an object holds as often as it holds it: written out, ten lines can hold 2^100 values. */
  #walk(value: unknown): void {
    const open = [value]
    for (let one = open.pop(); one !== undefined; one = open.pop()) {
      if (++this.#values > MOST_VALUES)
        throw new Error(`its lists and objects held more than ${MOST_VALUES} values`)
      const inner = innerOf(one)
      if (Array.isArray(inner)) for (const item of inner) open.push(item)
      else if (inner instanceof Map) for (const item of inner.values()) open.push(item)
    }
  }
}

/**
 * A template made ready. `special` are the texts of bos_token, eos_token and so on, which templates read by these names. There is no
 * strftime_now: templates that ask whether there is one write their fixed date, so a run can be repeated. Throws TokenizerFileError
 * for a text that is no template.
 */
export function chatTemplate(
  template: string,
  special: Readonly<Record<string, string>>,
  file: string,
): RenderChat {
  let program: ReturnType<typeof parse>
  try {
    program = parse(tokenize(template, { lstrip_blocks: true, trim_blocks: true }))
  } catch (error) {
    throw new TokenizerFileError(`${file}: expected a chat template in Jinja: ${wordsOf(error)}`)
  }
  return (messages, options = {}) => {
    const environment = new Environment()
    const values = { ...GLOBALS, documents: null, add_generation_prompt: false, ...special }
    for (const [name, value] of Object.entries({ ...values, tools: null, ...options, messages }))
      if (value !== undefined) environment.set(name, value)
    try {
      return `${new BoundedInterpreter(environment).run(program).value}`
    } catch (error) {
      const missing = missingFunctions(template, environment)
      const is_call = /not a function/.test(wordsOf(error))
      throw new RangeError(
        is_call && missing.length > 0
          ? `${file}: the chat template calls ${missing.join(', ')}, which is not offered here. ${remedyOf(missing)}`
          : `${file}: the chat template stopped: ${wordsOf(error)}`,
      )
    }
  }
}

/** Names that a template calls and that nothing defines. */
function missingFunctions(template: string, environment: Environment): string[] {
  const code = [...template.matchAll(/\{[{%]([\s\S]*?)[%}]\}/g)].map(([, inner]) =>
    inner.replaceAll(/'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"/g, "''"),
  )
  const made = new Set(
    code.flatMap((part) => [...part.matchAll(/\b(?:macro|set)\s+(\w+)/g)].map(([, name]) => name)),
  )
  const called = code.flatMap((part) =>
    [...part.matchAll(/(?<![\w.|]\s*)\b([A-Za-z_]\w*)\s*\(/g)].map(([, name]) => name),
  )
  return [...new Set(called)].filter(
    (name) => !NO_FUNCTIONS.test(name) && !made.has(name) && !isKnown(environment, name),
  )
}

/** Words of the language that may stand before a bracket. */
const NO_FUNCTIONS = /^(if|elif|else|in|not|and|or|is|for|macro|call|set|filter|caller)$/

function isKnown(environment: Environment, name: string): boolean {
  try {
    return environment.lookupVariable(name).type !== 'UndefinedValue'
  } catch {
    return false
  }
}

/** What to do about them. transformers writes the date of the day, so no run could be repeated. */
const remedyOf = (missing: readonly string[]): string =>
  missing.includes('strftime_now')
    ? "transformers writes the date of the day there, so a run could not be repeated: write a fixed date in its place, such as '26 Jul 2024'."
    : 'Write what it gives into the template in its place.'

const GLOBALS = {
  ...{ true: true, false: false, none: null, True: true, False: false, None: null },
  raise_exception: (words: unknown) => {
    throw new Error(`${words}`)
  },
  range,
}

/** Python's range. */
function range(first: number, stop?: number, step = 1): number[] {
  const [from, to] = stop === undefined ? [0, first] : [first, stop]
  const length = Math.max(0, Math.ceil((to - from) / step))
  if (!(length <= MOST_STEPS)) throw new Error(`range: expected at most ${MOST_STEPS} numbers`)
  return Array.from({ length }, (_, i) => from + i * step)
}

const wordsOf = (error: unknown) => (error instanceof Error ? error.message : `${error}`)
