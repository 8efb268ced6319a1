// Writes calls and answers of tools as tokens of a vocabulary. There are two ways: marks of one
// character, and chat templates.
import type { ToolCall } from './tool.ts'

/** A message of a conversation, as chat templates read it. */
export interface Message {
  readonly role: 'system' | 'user' | 'assistant' | 'tool'
  readonly content: string
  readonly tool_calls?: readonly {
    readonly type: 'function'
    readonly function: { readonly name: string; readonly arguments: unknown }
  }[]
  /** What chat templates of some models read besides. */
  readonly [name: string]: unknown
}

/** What a turn of the policy says. */
export interface Spoken {
  /** Its text without the calls. */
  readonly content: string
  readonly calls: readonly ToolCall[]
}

export interface TurnFormat {
  /** Tokens that end a turn of the policy beside its end tokens. */
  readonly stopTokenIds: readonly number[]
  /** Finds the calls of one turn. */
  parse(ids: readonly number[]): Spoken
  /** The tokens that follow a turn: the answers to its calls, and whatever makes it the policy's
   * turn again. `history` are all messages before them; `lastId` ends the stream so far. */
  append(
    history: readonly Message[],
    answers: readonly Message[],
    lastId: number | undefined,
  ): number[]
  /** A whole response as text, tools' answers included, without special tokens. */
  text(ids: readonly number[]): string
  /** What is scored of a whole response, tools' answers included. */
  answer(text: string): string
  /** Of each token of a demonstration: 1 = a tool would write it. */
  observed(text: string): readonly number[]
}
