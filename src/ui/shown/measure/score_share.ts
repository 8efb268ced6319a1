// Decides whether a score is written as a share of 1: in percent, on an axis to 100 %.
import { rewardIsShare } from '../../../document/experiment/asked.ts'
import type { LabState } from '../../../page/state/store.ts'
import { type Bounds, boundsIn, isWithin } from '../../scales/bounds.ts'
import type { Domain } from '../../scales/domain.ts'
import { shownExperiment } from '../run.ts'
import { isImported } from '../shown.ts'

export const SHARE: Domain = [0, 1]

/** Of a run of the lab its reward says it; what was measured can refute it of any run, and alone
 * says it of another trainer's. */
export const isShare = (
  { reward }: Pick<ReturnType<typeof shownExperiment>, 'reward'>,
  measured: Pick<Bounds, 'low' | 'high'>,
): boolean => (isImported() || rewardIsShare(reward)) && isWithin(measured, SHARE)

/** All steps. */
export const WHOLE: Domain = [0, Number.POSITIVE_INFINITY]

/** The same of a score of a run. */
export const isShareIn = (state: LabState, metric: string): boolean =>
  isShare(shownExperiment(state), boundsIn([state.series.get(metric)], WHOLE))
