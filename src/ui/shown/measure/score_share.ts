// Decides whether a score is written as a share of 1: in percent, on an axis to 100 %.
import { rewardIsShare } from '../../../document/experiment/asked.ts'
import type { LabState } from '../../../page/state/store.ts'
import { type Bounds, boundsIn, isWithin } from '../../scales/bounds.ts'
import type { Domain } from '../../scales/domain.ts'
import { hasShares } from '../metrics.ts'
import { shownExperiment } from '../run.ts'
import { isImported } from '../shown.ts'

export const SHARE: Domain = [0, 1]

/** Of a run of the lab its reward says it, of a log its accuracies; what was measured can refute
 * both. */
export const isShare = (state: LabState, measured: Pick<Bounds, 'low' | 'high'>): boolean =>
  (isImported() ? hasShares(state.series.keys()) : rewardIsShare(shownExperiment(state).reward)) &&
  isWithin(measured, SHARE)

/** All steps. */
export const WHOLE: Domain = [0, Number.POSITIVE_INFINITY]

/** The same of a score of a run. */
export const isShareIn = (state: LabState, metric: string): boolean =>
  isShare(state, boundsIn([state.series.get(metric)], WHOLE))
