// Says in words how the parts of a composed reward score one response, and where a person's
// programs failed.
import type { RolloutSample } from '../../host/protocol/results.ts'
import { formatNumber } from '../kit/format.ts'

/** ' exact_match 1, length 0.5.' and why it could not be scored; '' without a composed reward. */
export function rewardWords({
  reward_parts = {},
  reward_problem,
  tool_problem,
}: Pick<RolloutSample, 'reward_parts' | 'reward_problem' | 'tool_problem'>): string {
  const parts = Object.entries(reward_parts).map(
    ([name, score]) => `${name} ${formatNumber(score)}`,
  )
  const asked = tool_problem === undefined ? '' : ` No answer of a tool: ${tool_problem}.`
  const words = `${parts.length > 0 ? ` ${parts.join(', ')}.` : ''}${asked}`
  return reward_problem === undefined ? words : `${words} Not scored: ${reward_problem}.`
}
