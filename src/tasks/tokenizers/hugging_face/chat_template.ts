// Renders chat templates as transformers renders them: Jinja with trim_blocks and lstrip_blocks,
// through @huggingface/jinja.
import { Environment, Interpreter, parse, tokenize } from '@huggingface/jinja'
import { TokenizerFileError } from './tokenizer_json.ts'

/** One message of a conversation. Templates read further fields, such as tool_calls, by their own
 * names. */
export interface ChatMessage {
  readonly role: string
  readonly content: unknown
  readonly [field: string]: unknown
}

/** As transformers' apply_chat_template names them. Whatever else a template reads is passed on
 * under its name. */
export interface ChatOptions {
  /** Ends with what begins an answer. */
  readonly add_generation_prompt?: boolean
  /** Functions that the model may call, as JSON schemas. */
  readonly tools?: readonly object[] | undefined
  readonly enable_thinking?: boolean
  readonly [name: string]: unknown
}

/** Throws RangeError with the template's own words where it refuses the messages, and where it
 * never ends. */
export type RenderChat = (messages: readonly ChatMessage[], options?: ChatOptions) => string

/** Far above what a long conversation needs (300 for one of two turns with Qwen 3's template), and
 * at most a few seconds. */
const MOST_STEPS = 200_000
const MOST_CHARACTERS = 10_000_000

/** Macros within macros; a schema of tools is written a few deep. */
const MOST_DEPTH = 200

/** What the interpreter wraps: a list of wrapped values, a Map of them, or a plain value. */
const innerOf = (wrapped: unknown): unknown =>
  typeof wrapped === 'object' && wrapped !== null && 'value' in wrapped ? wrapped.value : undefined

/** Values within values, and characters, that all steps together may handle. */
const MOST_VALUES = 10_000_000

/** What a template uses and is not offered; the message says what it is and what to do. */
class MissingName extends Error {}

/** What is missing where a step of a template fails with these words; undefined where something
 * else is wrong. */
function missingIn(step: unknown, words: string): MissingName | undefined {
  const [, filter] = /^Unknown \w+ filter: (\w+)$/.exec(words) ?? []
  if (filter !== undefined) return missing('uses the filter', filter)
  const [, test] = /^Unknown test: (\w+)$/.exec(words) ?? []
  if (test !== undefined) return missing('uses the test', test)
  if (!/^Cannot call something that is not a function/.test(words)) return undefined
  const callee = fieldOf(step, 'callee') ?? fieldOf(fieldOf(step, 'call'), 'callee')
  const name = fieldOf(callee, 'value') ?? fieldOf(fieldOf(callee, 'property'), 'value')
  return typeof name === 'string' ? missing('calls', name) : undefined
}

const fieldOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined

/** transformers writes the date of the day, so no run could be repeated. */
const missing = (uses: string, name: string): MissingName =>
  new MissingName(
    `${uses} ${name}, which is not offered here. ${
      name === 'strftime_now'
        ? "transformers writes the date of the day there, so a run could not be repeated: write a fixed date in its place, such as '26 Jul 2024'."
        : 'Write what it gives into the template in its place.'
    }`,
  )

/** Ends a template that loops or grows without end: a template comes from a file, and rendering
 * cannot be interrupted. */
class BoundedInterpreter extends Interpreter {
  #steps = 0
  #values = 0
  #characters = 0
  #depth = 0

  override evaluate(...args: Parameters<Interpreter['evaluate']>) {
    const value = this.#named(args)
    const { value: inner } = value
    // A loop with an empty body evaluates nothing but its list.
    this.#steps += 1 + (Array.isArray(inner) ? inner.length : 0)
    if (this.#steps > MOST_STEPS) throw new Error(`it took more than ${MOST_STEPS} steps`)
    if (typeof inner === 'string') this.#count(inner)
    else this.#walk(value)
    return value
  }

  /** The innermost call, filter or test that is not there gives the error its name. */
  #named(args: Parameters<Interpreter['evaluate']>) {
    const calls = `${fieldOf(args[0], 'type')}`.startsWith('Call') ? 1 : 0
    this.#depth += calls
    // Where the stack is full, the interpreter takes a macro for one that is not there.
    if (this.#depth > MOST_DEPTH)
      throw new Error(`its macros called one another more than ${MOST_DEPTH} deep`)
    try {
      return super.evaluate(...args)
    } catch (error) {
      const found = error instanceof MissingName ? undefined : missingIn(args[0], wordsOf(error))
      throw found ?? error
    } finally {
      this.#depth -= calls
    }
  }

  #count(text: string): void {
    this.#characters += text.length
    if (text.length > MOST_CHARACTERS)
      throw new Error(`it wrote more than ${MOST_CHARACTERS} characters`)
    if (this.#characters > 20 * MOST_CHARACTERS)
      throw new Error(`its steps handled more than ${20 * MOST_CHARACTERS} characters`)
  }

  /** Counts what a list or an object holds as often as it holds it: written out, ten lines can hold
   * 2^100 values. */
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

/** A template made ready. `special` are the texts of bos_token, eos_token and so on, which
 * templates read by these names. There is no strftime_now: templates that ask whether there is one
 * write their fixed date, so a run can be repeated. Throws TokenizerFileError for a text that is no
 * template. */
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
      const why = error instanceof MissingName ? wordsOf(error) : `stopped: ${wordsOf(error)}`
      throw new RangeError(`${file}: the chat template ${why}`)
    }
  }
}

const GLOBALS = {
  true: true,
  false: false,
  none: null,
  True: true,
  False: false,
  None: null,
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
