// Says in words what the chart of scores shows, how the parts of a composed reward score one
// response, and where a person's programs failed.
import type { TaskChoice } from '../../document/experiment/fields/task_fields.ts'
import { taskCard } from '../../document/experiment/task_card.ts'
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

interface Origin {
  /** The run is another system's log. */
  readonly isImported: boolean
  /** The reward is composed by the person, and may be any number. */
  readonly isOwn: boolean
}

/** Of what the lines of the chart of scores are shares, or means. */
export function scoreNote(task: TaskChoice, { isImported, isOwn }: Origin): string {
  if (isImported)
    return 'As the log has them: the mean score of its responses, and of held-out answers.'
  if (isOwn)
    return 'Mean of this experiment’s reward on training prompts; share of answers that count as right, whatever the reward, on problems never trained on.'
  return taskCard(task, 0).partial_score === undefined
    ? 'Share of correct answers: on training prompts, and on problems never trained on.'
    : 'Mean score on training prompts, where a wrong answer can count in part; share of correct answers on problems never trained on.'
}
