// Lists the charts of a composed reward.
import { runColor } from '../../../record/run/record.ts'
import type { Line } from '../../plot/chart_lines.ts'

interface RewardChart {
  readonly id: string
  readonly title: string
  readonly note: string
  readonly lines: readonly Line[]
}

/** Every part of a composed reward, and what programs return beside their score. */
export function rewardCharts(metrics: readonly string[]): readonly RewardChart[] {
  const parts = metrics.flatMap((metric) => /^reward\/(.+)\/mean$/.exec(metric)?.[1] ?? [])
  const lines = parts.map((part, i) => ({
    metric: `reward/${part}/mean`,
    label: part,
    color: runColor(i).color,
    dash: runColor(i).dash,
    width: 1.5,
  }))
  return [
    {
      id: 'reward-parts',
      title: 'Parts of the reward',
      note: 'mean of each part by itself, without its weight',
      lines,
    },
    {
      id: 'unscored',
      title: 'Responses not scored',
      note: 'how many took too long, or failed; they score 0',
      lines: [
        { metric: 'reward/timeouts', label: 'too long', color: '--series-1', width: 1.5 },
        { metric: 'reward/errors', label: 'failed', color: '--series-2', width: 1.5, dash: [7, 3] },
      ],
    },
  ]
}
