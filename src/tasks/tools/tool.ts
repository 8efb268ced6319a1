// Declares a tool, how one is called, and the text that comes back. Tools are pure or run in a
// sandbox: no GPU, no page.
import { isObject } from '../../formats/json.ts'

/** One argument of a tool in JSON schema. */
interface ToolProperty {
  readonly type: 'string' | 'integer' | 'number' | 'boolean'
  readonly description: string
}

/** A tool in OpenAI's function schema, which chat templates show to the model. */
export interface ToolSchema {
  readonly type: 'function'
  readonly function: {
    readonly name: string
    readonly description: string
    readonly parameters: {
      readonly type: 'object'
      readonly properties: Readonly<Record<string, ToolProperty>>
      readonly required: readonly string[]
    }
  }
}

/** What a tool says, and a reward of its own where it gives one. That is reported and not added to
 * the score, as in verl. */
export interface ToolAnswer {
  readonly text: string
  readonly reward?: number
}

/** A program that gave no answer. */
export class ToolProblem extends Error {
  override readonly name = 'ToolProblem'
  readonly kind: 'timeout' | 'error'

  constructor(kind: ToolProblem['kind'], message: string) {
    super(message)
    this.kind = kind
  }
}

/** What became of a call: the text that the model reads, and why a program gave none. */
export interface Called extends Required<ToolAnswer> {
  readonly problem?: ToolProblem
}

/** A tool. It may take its time: rows that called one wait for it. */
export interface Tool {
  /** What a menu calls it; its name where there is none. */
  readonly label?: string
  readonly schema: ToolSchema
  /** How a vocabulary of single characters calls it: `[12+34]` (marked_turns.ts). Its only argument
   * lies between the marks. */
  readonly marks: { readonly open: string; readonly close: string; readonly argument: string }
  /** Whether a person wrote it: then it can fail by itself, which is counted. */
  readonly isProgram?: boolean
  /** Whatever it throws becomes a text that the model reads. */
  call(args: Readonly<Record<string, unknown>>): ToolAnswer | Promise<ToolAnswer>
}

/** A call as the model wrote it; `arguments` is any JSON value. */
export interface ToolCall {
  readonly name: string
  readonly arguments: unknown
}

export const TRUNCATE_SIDES = ['left', 'middle', 'right'] as const
export type TruncateSide = (typeof TRUNCATE_SIDES)[number]

/** What a conversation is allowed; verl's names (actor_rollout_ref.rollout.multi_turn). */
export interface TurnLimits {
  /** Times the policy writes; 0 or undefined = no limit. */
  readonly max_assistant_turns: number | undefined
  /** Rounds of tool answers; 0 or undefined = no limit. */
  readonly max_user_turns: number | undefined
  /** Calls of one turn that are run; what is left is ignored. */
  readonly max_parallel_calls: number
  /** Characters (code points) of an answer. */
  readonly max_tool_response_length: number
  readonly tool_response_truncate_side: TruncateSide
}

/** verl's, but for the number of turns, which it leaves open. */
export const TURN_DEFAULTS: Omit<TurnLimits, 'max_assistant_turns' | 'max_user_turns'> = {
  max_parallel_calls: 1,
  max_tool_response_length: 256,
  tool_response_truncate_side: 'middle',
}

export const nameOf = ({ schema }: Tool): string => schema.function.name

/** JSON as Python's json.dumps writes it: a space behind every comma and colon. */
export function spacedJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(spacedJson).join(', ')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  const entries = Object.entries(value).map(
    ([name, inner]) => `${JSON.stringify(name)}: ${spacedJson(inner)}`,
  )
  return `{${entries.join(', ')}}`
}

/** A list of names as Python prints it: the answer to an unknown name shows it to the model. */
function pythonList(names: readonly string[]): string {
  const quoted = names.map((name) => {
    const quote = name.includes("'") && !name.includes('"') ? '"' : "'"
    const text = name.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')
    return `${quote}${quote === "'" ? text.replaceAll("'", "\\'") : text}${quote}`
  })
  return `[${quoted.join(', ')}]`
}

/** A text within the limit as it is, a longer one without its middle, its beginning or its end
 * (verl ToolAgentLoop._call_tool). */
export function truncated(
  text: string,
  {
    max_tool_response_length: limit,
    tool_response_truncate_side: side,
  }: Pick<TurnLimits, 'max_tool_response_length' | 'tool_response_truncate_side'>,
): string {
  // No text has more code points than UTF-16 units, and a megabyte is not worth a list of them all.
  if (text.length <= limit) return text
  const head = (count: number) =>
    Array.from(text.slice(0, 2 * count))
      .slice(0, count)
      .join('')
  // As Python's text[-0:], the last 0 characters are all of them.
  const tail = (count: number) =>
    count === 0
      ? text
      : Array.from(text.slice(-2 * count - 1))
          .slice(-count)
          .join('')
  if (!isLonger(text, limit)) return text
  if (side === 'left') return `(truncated)...${tail(limit)}`
  if (side === 'right') return `${head(limit)}...(truncated)`
  const half = Math.floor(limit / 2)
  return `${head(half)}...(truncated)...${tail(half)}`
}

/** Whether a text has more code points than `limit`. */
function isLonger(text: string, limit: number): boolean {
  let count = 0
  for (const _ of text) if (++count > limit) return true
  return false
}

/** What Python says to verl of arguments that have no names. */
const NO_MAPPING = 'asyncio.threads.to_thread() argument after ** must be a mapping'

/** What Python calls the type of a JSON value that is no object. */
function pythonType(value: unknown): string {
  if (value === null || value === undefined) return 'NoneType'
  if (Array.isArray(value)) return 'list'
  if (typeof value === 'boolean') return 'bool'
  if (typeof value === 'number') return Number.isInteger(value) ? 'int' : 'float'
  return 'str'
}

/** Whether a call has a tool to its name, and named arguments. */
export const reachesTool = (tools: readonly Tool[], call: ToolCall): boolean =>
  isObject(call.arguments) && tools.some((tool) => nameOf(tool) === call.name)

/** Runs one call and returns what the model reads. An unknown name and an exception are answered by
 * verl's sentences. The reward is 0 where the tool gives none. */
export async function callTool(
  tools: readonly Tool[],
  { name, arguments: args }: ToolCall,
  limits: TurnLimits,
): Promise<Called> {
  const tool = tools.find((one) => nameOf(one) === name)
  if (!tool) {
    const available = pythonList(tools.map(nameOf))
    return { text: `Unknown function '${name}'. Available tools: ${available}`, reward: 0 }
  }
  try {
    if (!isObject(args)) throw new TypeError(`${NO_MAPPING}, not ${pythonType(args)}`)
    const { text, reward = 0 } = await tool.call(args)
    return { text: truncated(text, limits), reward }
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    // Whole, as verl says it.
    const text = `Error executing tool '${name}': ${message}`
    return { text, reward: 0, ...(error instanceof ToolProblem && { problem: error }) }
  }
}
