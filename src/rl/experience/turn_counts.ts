// Counts how often the rows of a batch changed hands between policy and tools.
import type { ToolFailure } from '../../tasks/tools/conversation.ts'

/** How often the rows of a batch changed hands; [B] each. */
export interface TurnCounts {
  /** verl's num_turns: turns of the policy, rounds of answers, and the prompt. */
  readonly num_turns: readonly number[]
  /** Calls that reached a tool. */
  readonly tool_calls: readonly number[]
  /** Calls that a person's program did not answer; where there is such a tool. */
  readonly tool_problems?: readonly (readonly ToolFailure[])[]
}

/** The counts alone. */
export const countsOf = ({ num_turns, tool_calls, tool_problems }: TurnCounts): TurnCounts => ({
  num_turns,
  tool_calls,
  ...(tool_problems && { tool_problems }),
})

/** These rows, in this order. */
export function pickCounts(counts: TurnCounts, rows: readonly number[]): TurnCounts {
  const pick = <T>(values: readonly T[]): T[] => rows.map((row) => values[row])
  const { num_turns, tool_calls, tool_problems } = counts
  return {
    num_turns: pick(num_turns),
    tool_calls: pick(tool_calls),
    ...(tool_problems && { tool_problems: pick(tool_problems) }),
  }
}
