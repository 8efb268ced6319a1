// Finds conversations as they must have gone in the ids of their responses: who wrote what,
// and how often.
import { arithmetic } from '../../../tasks/tokenizers/arithmetic.ts'
import type { Tool } from '../../../tasks/tools/tool.ts'
import type { RlPhase } from '../../config/phase.ts'
import type { BatchTurns } from '../../experience/batch.ts'

const CLOSES = '+-,'
/** Tokens of every answer: 7>. */
const ANSWER = 2

/** A digit and one of the marks behind it make a call: even a policy that knows nothing makes
 * some. */
export const TOOLS: readonly Tool[] = [...'0123456789'].flatMap((open) =>
  [...CLOSES].map(
    (close): Tool => ({
      schema: {
        type: 'function',
        function: {
          name: `${open}${close}`,
          description: 'Says seven.',
          parameters: { type: 'object', properties: {}, required: [] },
        },
      },
      marks: { open, close, argument: 'text' },
      call: () => ({ text: '7' }),
    }),
  ),
)

/** Whether the rows of a phase have several turns. */
export const talks = ({ rollout }: RlPhase): boolean => (rollout.max_turns ?? 1) > 1

/** The turns of responses [B][R]. */
export function turnsRef(rows: readonly Uint32Array[], { rollout }: RlPhase): BatchTurns {
  const { max_turns = 1, max_response_length: R } = rollout
  const found = rows.map((ids) => {
    const mask = new Float32Array(R)
    let [turns, answers, began, length, is_ended] = [1, 0, 0, R, false]
    for (let t = 0; t < R; t++) {
      mask[t] = 1
      const text = arithmetic.tokens[ids[t]]
      const isCall =
        CLOSES.includes(text) && t > began && /\d/.test(arithmetic.decode(ids.slice(began, t)))
      is_ended = ids[t] === arithmetic.eos_token_id
      if (is_ended || CLOSES.includes(text)) {
        if (isCall && turns < max_turns && t + 1 < R) answers++
        if (!isCall || turns === max_turns || t + 1 + ANSWER >= R) {
          length = t + 1
          break
        }
        turns++
        t += ANSWER
        began = t + 1
      }
    }
    return { mask, length, is_ended, num_turns: 2 * turns, answers }
  })
  return {
    response_mask: Float32Array.from(found.flatMap(({ mask }) => [...mask])),
    response_lengths: Uint32Array.from(found, ({ length }) => length),
    is_ended: found.map(({ is_ended }) => is_ended),
    num_turns: found.map(({ num_turns }) => num_turns),
    tool_calls: found.map(({ answers }) => answers),
  }
}

/** What a step reports of them. */
export function turnMetrics({ num_turns, tool_calls }: BatchTurns): Record<string, number> {
  const mean = (x: readonly number[]) => x.reduce((a, b) => a + b, 0) / x.length
  return {
    'num_turns/min': Math.min(...num_turns),
    'num_turns/max': Math.max(...num_turns),
    'num_turns/mean': mean(num_turns),
    'tool_calls/mean': mean(tool_calls),
  }
}
