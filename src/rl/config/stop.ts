// Decides what ends a phase before its steps are over: pure functions of the numbers that its steps
// reported.

import { mean } from '../math/stats.ts'
import type { Phase, Stop, StopReason } from './phase.ts'

/** Scores that a plateau is judged by: this many of the last steps. */
export const plateauWindow = ({ plateau_steps }: Stop): number => 2 * (plateau_steps ?? 0)

/** The mean of the last `steps` scores is not `delta` above the mean of as many before them. */
function isPlateau(scores: readonly number[], { plateau_steps: steps, plateau_delta }: Stop) {
  if (steps === null || scores.length < 2 * steps) return false
  const last = mean(scores.slice(-steps))
  const before = mean(scores.slice(-2 * steps, -steps))
  return last < before + plateau_delta
}

/** Names of the metrics that conditions read. */
export interface StopMetrics {
  readonly accuracy: string
  /** Of the policy that the phase trains. */
  readonly entropy: string
}

export const SCORE = 'critic/score/mean'

export const stopMetrics = (phase: Phase, taskId: string, lastLayer: number): StopMetrics => ({
  accuracy: `val-aux/${taskId}/acc/greedy`,
  entropy:
    phase.kind === 'rl' && phase.target_layer < lastLayer
      ? `layer/entropy/${phase.target_layer}`
      : 'actor/entropy',
})

/** The first condition that holds after a step; `scores` are the mean scores of the phase's last
 * steps, this one included. A number that the step did not report decides nothing. */
export function stopReason(
  stop: Stop,
  names: StopMetrics,
  metrics: Readonly<Record<string, number>>,
  scores: readonly number[],
): StopReason | undefined {
  if (stop.accuracy !== null && metrics[names.accuracy] >= stop.accuracy) return 'accuracy'
  if (stop.score !== null && metrics[SCORE] >= stop.score) return 'score'
  if (SCORE in metrics && isPlateau(scores, stop)) return 'plateau'
  if (stop.entropy_floor !== null && metrics[names.entropy] < stop.entropy_floor)
    return 'entropy_floor'
  return undefined
}
