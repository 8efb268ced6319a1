// Batches responses that a policy and its tools wrote in turns: which tokens count, where each
// response ends, and how often who spoke.
import type { Conversation } from '../../tasks/tools/conversation.ts'
import type { TurnFormat } from '../../tasks/tools/turn_format.ts'
import { type BatchTurns, joined, pickRows, type RolloutBatch } from './batch.ts'
import type { Spoken } from './drawn_batch.ts'

/** Finished conversations of at most R tokens as a batch. */
export function batchTurns(
  conversations: readonly Conversation[],
  R: number,
  eosTokenIds: readonly number[],
): BatchTurns {
  const response_mask = new Float32Array(conversations.length * R)
  conversations.forEach((held, b) => {
    response_mask.set(held.response_mask, b * R)
  })
  return {
    response_mask,
    response_lengths: Uint32Array.from(conversations, ({ response_ids }) => response_ids.length),
    is_ended: conversations.map(({ response_ids }) =>
      eosTokenIds.includes(response_ids.at(-1) ?? -1),
    ),
    num_turns: conversations.map(({ num_turns }) => num_turns),
    tool_calls: conversations.map(({ tool_calls }) => tool_calls.length),
    ...(conversations[0]?.hasPrograms && {
      tool_problems: conversations.map(({ tool_problems }) => tool_problems),
    }),
  }
}

/** These rows of several batches that lie one below the other, in this order. */
export function pickTurns(
  turns: readonly BatchTurns[],
  rows: readonly number[],
  R: number,
): BatchTurns {
  const all = <T>(of: (one: BatchTurns) => readonly T[]): T[] => {
    const values = turns.flatMap(of)
    return rows.map((row) => values[row])
  }
  return {
    response_mask: pickRows(joined(turns.map(({ response_mask }) => response_mask)), rows, R),
    response_lengths: Uint32Array.from(all(({ response_lengths }) => [...response_lengths])),
    is_ended: all(({ is_ended }) => is_ended),
    num_turns: all(({ num_turns }) => num_turns),
    tool_calls: all(({ tool_calls }) => tool_calls),
    ...(turns[0]?.tool_problems && { tool_problems: all((one) => one.tool_problems ?? []) }),
  }
}

/** A batch in which the given tokens of each row do not count, because a tool would write them. */
export function withoutObserved(
  batch: RolloutBatch,
  observed: readonly (readonly number[])[],
): RolloutBatch {
  const R = batch.response_length
  const response_mask = batch.response_mask.map((mask, i) =>
    observed[Math.floor(i / R)][i % R] === 1 ? 0 : mask,
  )
  return { ...batch, response_mask }
}

/** The parts of row `b`, in order. */
export function spokenIn(
  { response_ids, response_mask, response_lengths, response_length: R }: RolloutBatch,
  b: number,
  { text }: Pick<TurnFormat, 'text'>,
): Spoken[] {
  const spoken: Spoken[] = []
  const end = b * R + response_lengths[b]
  for (let from = b * R; from < end; ) {
    let to = from + 1
    while (to < end && response_mask[to] === response_mask[from]) to++
    const role = response_mask[from] === 1 ? 'assistant' : 'tool'
    spoken.push({ role, text: text([...response_ids.subarray(from, to)]) })
    from = to
  }
  return spoken
}
