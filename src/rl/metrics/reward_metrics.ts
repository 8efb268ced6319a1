// Computes the metrics of the parts of a composed reward over a batch.
import type { RewardProblem, Scored } from '../../tasks/rewards/composed.ts'
import { mean } from '../math/stats.ts'

/** `reward/<part>/mean` of every part, without its weight, and how many responses could not be
 * scored. Nothing without a composed reward. */
export function rewardMetrics({
  columns,
  problems,
}: Pick<Scored, 'columns' | 'problems'>): Record<string, number> {
  const metrics: Record<string, number> = {}
  for (const [name, column] of columns) {
    const known = column.filter((score) => score !== undefined)
    if (known.length > 0) metrics[`reward/${name}/mean`] = mean(known)
  }
  if (columns.size === 0) return metrics
  const count = (kind: RewardProblem['kind']) =>
    problems.filter((problem) => problem.kind === kind).length
  return { ...metrics, 'reward/timeouts': count('timeout'), 'reward/errors': count('error') }
}
