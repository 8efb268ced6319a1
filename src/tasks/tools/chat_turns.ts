// Turns as chat templates write them: calls in <tool_call>, answers as the template renders messages of tools.
import { isRecord, type ToolCall, type ToolSchema } from './tool.ts'
import type { Message, Spoken, TurnFormat } from './turn_format.ts'

/** A tokenizer with its chat template. */
export interface Chat {
  /** The ids of a conversation; `add_generation_prompt` ends them where the assistant begins to write. */
  render(
    messages: readonly Message[],
    tools: readonly ToolSchema[],
    add_generation_prompt: boolean,
  ): number[]
  /** With special tokens. */
  decode(ids: readonly number[]): string
  /**
   * The token after which the template has a line break that the policy does not write, and that break, each as an id: verl's
   * builder for Qwen. undefined: nothing is inserted between a turn and what follows.
   */
  readonly boundary: { readonly after: number; readonly insert: number } | undefined
}

const CALL = /<tool_call>([\s\S]*?)<\/tool_call>/g

/** Calls in the form of Hermes and Qwen: JSON with name and arguments. Anything else between the marks is left out. */
export function parseHermes(text: string): Spoken {
  const calls = Array.from(text.matchAll(CALL), ([, body]) => callOf(body))
  if (!text.includes('<tool_call>') || !text.includes('</tool_call>'))
    return { content: text, calls: [] }
  return { content: text.replaceAll(CALL, ''), calls: calls.filter((call) => call !== undefined) }
}

function callOf(body: string): ToolCall | undefined {
  try {
    const call: unknown = JSON.parse(body)
    if (!isRecord(call) || typeof call.name !== 'string' || !Object.hasOwn(call, 'arguments'))
      return undefined
    return { name: call.name, arguments: call.arguments }
  } catch {
    return undefined
  }
}

/** Chats that stand before a tool's message while its tokens are found: verl's continuous tokens. */
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
  /** What `longer` adds to `shorter`. Throws RangeError where the template changes what it wrote before. */
  const added = (shorter: readonly number[], longer: readonly number[]): number[] => {
    const differs = shorter.findIndex((id, i) => longer[i] !== id)
    if (differs >= 0)
      throw new RangeError(
        `chat template: expected that a message only adds tokens, but token ${differs} changed`,
      )
    return longer.slice(shorter.length)
  }
  return {
    stop_token_ids: [],
    // As verl, whose reward functions see what the tools said.
    answer: (text) => text,
    observed: () => [],
    parse: (ids) => parseHermes(chat.decode(ids)),
    append(history, answers, last_id) {
      const before = [...SYNTHETIC, syntheticCalls(answers)]
      const whole = [...history, ...answers]
      const { boundary } = chat
      return [
        ...(boundary && last_id === boundary.after ? [boundary.insert] : []),
        ...added(
          chat.render(before, tools, false),
          chat.render([...before, ...answers], tools, false),
        ),
        ...added(chat.render(whole, tools, false), chat.render(whole, tools, true)),
      ]
    },
  }
}
