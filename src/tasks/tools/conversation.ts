// Holds one conversation between a policy and its tools, by the rules of verl's ToolAgentLoop: ids
// are only ever appended.

import { isObject } from '../../formats/json.ts'
import {
  callTool,
  reachesTool,
  spacedJson,
  type Tool,
  type ToolCall,
  type ToolProblem,
  type TurnLimits,
} from './tool.ts'
import type { Message, TurnFormat } from './turn_format.ts'

/** What a conversation is held with. */
export interface ConversationSetting {
  readonly format: TurnFormat
  readonly tools: readonly Tool[]
  readonly limits: TurnLimits
  /** R: tokens of the response, the tools' included. */
  readonly response_length: number
}

/** A call that a program did not answer. */
export interface ToolFailure {
  readonly tool: string
  readonly kind: ToolProblem['kind']
  readonly message: string
}

/** Grows by turns of the policy; what tools answer comes back as tokens to be forced. */
export class Conversation {
  readonly response_ids: number[] = []
  /** 1 = the policy wrote this token; 0 = a tool or the template did. */
  readonly response_mask: number[] = []
  /** Calls that reached a tool. */
  readonly tool_calls: ToolCall[] = []
  /** One for each call that was answered, 0 for an error. verl does not add them to the score. */
  readonly tool_rewards: number[] = []
  /** Programs among the tools that gave no answer: which tool, and why. */
  readonly tool_problems: ToolFailure[] = []
  #setting: ConversationSetting
  #messages: Message[]
  /** The last id of the prompt: the stream's last one before anybody has spoken. */
  #lastId: number | undefined
  #assistantTurns = 0
  #userTurns = 0

  constructor(setting: ConversationSetting, prompt: readonly Message[], lastId?: number) {
    this.#setting = setting
    this.#messages = [...prompt]
    this.#lastId = lastId
  }

  /** Turns of the policy, rounds of answers that were kept, and the prompt. */
  get num_turns(): number {
    return this.#assistantTurns + this.#userTurns + 1
  }

  /** Appends what the policy wrote, runs the tools that it called, and returns the tokens to force
   * into the row before the policy writes again; undefined where the conversation is over. Answers
   * that leave the policy no room are dropped, so a response ends with a token of the policy. What
   * exceeds R tokens is cut. */
  async say(ids: readonly number[]): Promise<readonly number[] | undefined> {
    const { format, limits, response_length } = this.#setting
    const room = response_length - this.response_ids.length
    this.#push(ids.slice(0, room), 1)
    this.#assistantTurns++
    if (ids.length >= room) return undefined
    if (this.#assistantTurns >= (limits.max_assistant_turns || Number.POSITIVE_INFINITY))
      return undefined
    if (this.#userTurns >= (limits.max_user_turns || Number.POSITIVE_INFINITY)) return undefined
    const { content, calls } = format.parse(ids)
    if (calls.length === 0) return undefined
    const run = calls.slice(0, limits.max_parallel_calls)
    this.#messages.push(assistantMessage(content, run))
    const answers = await this.#answers(run)
    const appended = format.append(this.#messages, answers, this.#lastId)
    this.#messages.push(...answers)
    if (this.response_ids.length + appended.length >= response_length) return undefined
    this.#push(appended, 0)
    this.#userTurns++
    return appended
  }

  /** Whether a person wrote one of the tools. */
  get hasPrograms(): boolean {
    return this.#setting.tools.some(({ isProgram }) => isProgram)
  }

  async #answers(calls: readonly ToolCall[]): Promise<Message[]> {
    const { tools, limits } = this.#setting
    const found = await Promise.all(calls.map((call) => callTool(tools, call, limits)))
    this.tool_calls.push(...calls.filter((call) => reachesTool(tools, call)))
    this.tool_rewards.push(...found.map(({ reward }) => reward))
    found.forEach(({ problem }, i) => {
      if (!problem) return
      const { kind, message } = problem
      this.tool_problems.push({ tool: calls[i].name, kind, message })
    })
    return found.map(({ text }) => ({ role: 'tool', content: text }))
  }

  #push(ids: readonly number[], mask: 0 | 1): void {
    for (const id of ids) {
      this.response_ids.push(id)
      this.response_mask.push(mask)
    }
    this.#lastId = ids.at(-1) ?? this.#lastId
  }
}

/** Arguments that are no record stay the text that they were. */
const assistantMessage = (content: string, calls: readonly ToolCall[]): Message => ({
  role: 'assistant',
  content,
  tool_calls: calls.map(({ name, arguments: args }) => ({
    type: 'function',
    function: { name, arguments: isObject(args) ? args : spacedJson(args) },
  })),
})
