// Says whether a score of the shown run is a verdict: a sum of several parts can be 1 although one
// of them is missing, and more than 1 although none is whole.
import { mostReward } from '../../../document/experiment/asked.ts'
import type { LabState } from '../../../page/state/store.ts'
import { shownExperiment } from '../run.ts'

/** Whether a score of 1 is right, and nothing scores more. */
export function selectIsJudged(state: LabState): boolean {
  const { reward } = shownExperiment(state)
  const most = mostReward(reward)
  return reward.parts.length === 0 || most === undefined || most === 1
}
