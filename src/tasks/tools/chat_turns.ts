// Writes and reads turns as chat templates have them: calls in <tool_call>, answers as the template
// renders messages of tools.

import { isObject } from '../../formats/json.ts'
import type { Tokenizer } from '../tokenizers/tokenizer.ts'
import type { ToolCall, ToolSchema } from './tool.ts'
import type { Message, Spoken, TurnFormat } from './turn_format.ts'

/** A tokenizer with its chat template. */
export interface Chat {
  /** The ids of a conversation; `add_generation_prompt` ends them where the assistant begins to
   * write. */
  render(
    messages: readonly Message[],
    tools: readonly ToolSchema[],
    add_generation_prompt: boolean,
  ): number[]
  /** With special tokens. */
  decode(ids: readonly number[]): string
  /** Without them, of all turns. */
  text(ids: readonly number[]): string
  /** The token after which the template has a line break that the policy does not write, and that
   * break, each as an id: verl's builder for Qwen. undefined: nothing is inserted between a turn
   * and what follows. */
  readonly boundary: { readonly after: number; readonly insert: number } | undefined
}

/** Models whose templates end a turn with <|im_end|> and a line break (verl's
 * QwenContinuousTokenBuilder). */
const QWEN = ['qwen2', 'qwen3']

/** A tokenizer's chat. Throws RangeError without a template, and for a Qwen model whose vocabulary
 * cannot write its boundary. */
export function chatOf(tokenizer: Tokenizer, modelType: string): Chat {
  const { renderChat, eos_token_ids } = tokenizer
  if (!renderChat) throw new RangeError('tools: expected a tokenizer with a chat template')
  return {
    render: (messages, tools, add_generation_prompt) =>
      tokenizer.encode(renderChat(messages, { tools, add_generation_prompt })),
    decode: (ids) =>
      turnsOf(ids, eos_token_ids)
        .map((turn) => tokenizer.decode(turn))
        .join(''),
    text: (ids) =>
      turnsOf(ids, eos_token_ids)
        .map((turn) => tokenizer.decode(turn, { skip_special_tokens: true }))
        .join(''),
    boundary: QWEN.includes(modelType) ? qwenBoundary(tokenizer) : undefined,
  }
}

/** A stream cut at its end tokens, which are left out: a tokenizer decodes up to the first. */
function turnsOf(ids: readonly number[], ends: readonly number[]): number[][] {
  const turns: number[][] = [[]]
  for (const id of ids)
    if (ends.includes(id)) turns.push([])
    else turns.at(-1)?.push(id)
  return turns
}

function qwenBoundary(tokenizer: Tokenizer): NonNullable<Chat['boundary']> {
  const [after, more] = tokenizer.encode('<|im_end|>')
  const lineBreak = tokenizer.encode('\n')
  if (more !== undefined || lineBreak.length !== 1)
    throw new RangeError(
      'tools: expected <|im_end|> and a line break to be one token each, as verl asks of Qwen models',
    )
  return { after, insert: lineBreak[0] }
}

const CALL = /<tool_call>([\s\S]*?)<\/tool_call>/g

/** Calls in the form of Hermes and Qwen: JSON with name and arguments. Anything else between the
 * marks is left out. */
export function parseHermes(text: string): Spoken {
  const calls = Array.from(text.matchAll(CALL), ([, body]) => callOf(body))
  if (!text.includes('<tool_call>') || !text.includes('</tool_call>'))
    return { content: text, calls: [] }
  return { content: text.replaceAll(CALL, ''), calls: calls.filter((call) => call !== undefined) }
}

function callOf(body: string): ToolCall | undefined {
  try {
    const call: unknown = JSON.parse(body)
    if (!isObject(call) || typeof call.name !== 'string' || !Object.hasOwn(call, 'arguments'))
      return undefined
    return { name: call.name, arguments: call.arguments }
  } catch {
    return undefined
  }
}

/** Chats that precede a tool's message while its tokens are found: verl's continuous tokens. */
const SYNTHETIC: readonly Message[] = [
  { role: 'system', content: 'continuous token synthetic system' },
  { role: 'user', content: 'continuous token synthetic user' },
]

const syntheticCalls = (answers: readonly Message[]): Message => ({
  role: 'assistant',
  content: '',
  reasoning_content: 'reasoning',
  tool_calls: answers.map((_, i) => ({
    id: `continuous_token_call_${i}`,
    type: 'function',
    function: { name: 'continuous_token_tool', arguments: {} },
  })),
})

/** Turns of a model with a chat template. */
export function chatTurns(chat: Chat, tools: readonly ToolSchema[]): TurnFormat {
  /** What `longer` adds to `shorter`. Throws RangeError where the template changes what it wrote
   * before. */
  const added = (shorter: readonly number[], longer: readonly number[]): number[] => {
    const differs = shorter.findIndex((id, i) => longer[i] !== id)
    if (differs >= 0)
      throw new RangeError(
        `chat template: expected that a message only adds tokens, but token ${differs} changed`,
      )
    return longer.slice(shorter.length)
  }
  return {
    stopTokenIds: [],
    // As verl, whose reward functions see what the tools said.
    answer: (text) => text,
    text: (ids) => chat.text(ids),
    observed: () => [],
    parse: (ids) => parseHermes(chat.decode(ids)),
    append(history, answers, lastId) {
      const before = [...SYNTHETIC, syntheticCalls(answers)]
      const whole = [...history, ...answers]
      const { boundary } = chat
      return [
        ...(boundary && lastId === boundary.after ? [boundary.insert] : []),
        ...added(
          chat.render(before, tools, false),
          chat.render([...before, ...answers], tools, false),
        ),
        ...added(chat.render(whole, tools, false), chat.render(whole, tools, true)),
      ]
    },
  }
}
