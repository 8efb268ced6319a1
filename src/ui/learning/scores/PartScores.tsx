// Draws what each part of a composed reward says of one response, in words, and why it could not be
// scored.
import { partCard } from '../../../document/experiment/asked.ts'
import type { RolloutSample } from '../../../host/protocol/results.ts'
import { formatNumber } from '../../kit/format.ts'
import { selectTask } from '../../shown/measure/main_measure.ts'
import { useShown } from '../../shown/shown.ts'

type Told = Pick<RolloutSample, 'reward_parts' | 'reward_problem' | 'tool_problem'>
type Task = ReturnType<typeof selectTask>

/** 'Happy end: no', 'Variety: 0.93'; a program by its name. */
export function partWords(task: Task, name: string, score: number): string {
  const card = partCard(task, name)
  const says = card?.isYesNo ? (score === 1 ? 'yes' : 'no') : formatNumber(score)
  return `${card?.label ?? name}: ${says}`
}

export function PartScores({ told }: { readonly told: Told }) {
  const task = useShown(selectTask)
  const { reward_parts = {}, reward_problem, tool_problem } = told
  return (
    <>
      {Object.entries(reward_parts).map(([name, score]) => (
        <span key={name} className="part-score soft">
          {partWords(task, name, score)}
        </span>
      ))}
      {tool_problem === undefined ? null : (
        <span className="part-score soft">No answer of a tool: {tool_problem}.</span>
      )}
      {reward_problem === undefined ? null : (
        <span className="part-score soft">Not scored: {reward_problem}.</span>
      )}
    </>
  )
}
