// Reads conversations as files have them: {role, content} of OpenAI and TRL, {from, value} of
// ShareGPT, contents as text or as parts of text.
import { type Cell, isObject, kindOfCell, WrittenNumber } from '../table/table.ts'
import { type Refuse, textOf } from './cells.ts'

export type Role = 'system' | 'user' | 'assistant'

export interface Turn {
  readonly role: Role
  readonly content: string
  /** Of an assistant: whether it is to be learnt. OpenAI's `weight` 0 and axolotl's `train` false
   * say that it is not. */
  readonly isLearnt: boolean
}

/** Whose turn it is, by the names that trainers know. */
const ROLES: ReadonlyMap<string, Role | 'tool'> = new Map([
  ...['system', 'developer'].map((name) => [name, 'system'] as const),
  ...['user', 'human', 'prompter'].map((name) => [name, 'user'] as const),
  ...['assistant', 'gpt', 'chatgpt', 'bing', 'bard', 'model', 'bot', 'chatbot', 'ai'].map(
    (name) => [name, 'assistant'] as const,
  ),
  ...['tool', 'function', 'observation', 'function_call', 'function_response', 'tool_call'].map(
    (name) => [name, 'tool'] as const,
  ),
  ...['tool_response', 'tool_calls', 'ipython'].map((name) => [name, 'tool'] as const),
])

const ownOf = (message: { readonly [name: string]: Cell }, names: readonly string[]) =>
  names.find((name) => Object.hasOwn(message, name))

const ROLE_NAMES = ['role', 'from'] as const
const CONTENT_NAMES = ['content', 'value'] as const

/** Whether a cell is a list of turns, or one turn, by its form. */
export function looksLikeTurns(cell: Cell | undefined): boolean {
  const messages = Array.isArray(cell) ? cell : isObject(cell) ? [cell] : []
  return (
    messages.length > 0 &&
    messages.every((one) => isObject(one) && ownOf(one, ROLE_NAMES) !== undefined)
  )
}

/** The role of the last turn of a cell; undefined where there is none that is known. */
export function lastRole(cell: Cell | undefined): Role | 'tool' | undefined {
  const last = Array.isArray(cell) ? cell.at(-1) : cell
  const name = isObject(last) ? ownOf(last, ROLE_NAMES) : undefined
  const role = isObject(last) && name !== undefined ? last[name] : undefined
  return typeof role === 'string' ? ROLES.get(role.toLowerCase()) : undefined
}

/** The turns of a cell: a list of messages, or one. */
export function turnsOf(cell: Cell | undefined, refuse: Refuse): Turn[] {
  const messages = isObject(cell) ? [cell] : cell
  if (!Array.isArray(messages) || messages.length === 0)
    return refuse(`expected messages {role, content} or {from, value}, found ${kindOfCell(cell)}`)
  return messages.map((message: Cell, i) => turnOf(message, `message ${i + 1}`, refuse))
}

function turnOf(message: Cell, which: string, refuse: Refuse): Turn {
  if (!isObject(message))
    return refuse(
      `${which}: expected {role, content} or {from, value}, found ${kindOfCell(message)}`,
    )
  const whose = ownOf(message, ROLE_NAMES)
  const named = whose === undefined ? undefined : message[whose]
  const role = typeof named === 'string' ? ROLES.get(named.toLowerCase()) : undefined
  if (whose === undefined || typeof named !== 'string')
    return refuse(`${which} has no role or from that says whose it is`)
  if (role === undefined)
    return refuse(
      `${which} is of ${JSON.stringify(named)}: expected one of ${[...ROLES.keys()].join(', ')}`,
    )
  const calls = ['tool_calls', 'function_call'].find((name) => isCalled(message, name))
  if (role === 'tool' || calls !== undefined)
    return refuse(
      `${which}, ${role === 'tool' ? `a turn of ${named}` : `has ${calls}`}: the calls of tools in a file are not learnt; leave such rows out, or give tools to a phase of reinforcement`,
    )
  return { role, content: contentOf(message, which, refuse), isLearnt: isLearnt(message) }
}

const isCalled = (message: { readonly [name: string]: Cell }, name: string): boolean => {
  const own = Object.hasOwn(message, name) ? message[name] : null
  return own !== null && own !== '' && !(Array.isArray(own) && own.length === 0)
}

const isLearnt = ({ weight, train }: { readonly [name: string]: Cell }): boolean =>
  !(
    weight === 0 ||
    (weight instanceof WrittenNumber && Number(weight.text) === 0) ||
    train === false
  )

/** The text of a message: as it is, or of its parts {type: text, text}. */
function contentOf(
  message: { readonly [name: string]: Cell },
  which: string,
  refuse: Refuse,
): string {
  const name = ownOf(message, CONTENT_NAMES)
  const content = name === undefined ? undefined : message[name]
  if (typeof content === 'string') return textOf(content, (what) => refuse(`${which}: ${what}`))
  if (!Array.isArray(content) || content.length === 0)
    return refuse(`${which} has no text as its content`)
  return content
    .map((part: Cell) => {
      if (typeof part === 'string') return part
      const type = isObject(part) ? part.type : undefined
      if (
        isObject(part) &&
        typeof part.text === 'string' &&
        (type === undefined || type === 'text')
      )
        return part.text
      return refuse(
        `${which} has a part that is no text (${typeof type === 'string' ? type : kindOfCell(part)})`,
      )
    })
    .join('')
}
