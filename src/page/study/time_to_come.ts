// Estimates how long the rest of a study takes: every missing run as the page estimates a run
// alone, those that have begun from their step.
import type { Experiment } from '../../document/experiment/schema/schema.ts'
import { matchResults } from '../../document/study/analysis.ts'
import { secondsLeft } from '../../document/study/queue.ts'
import { plannedCount } from '../../document/study/search.ts'
import { type Estimate, inAll } from '../paces/estimator.ts'
import { begunRuns } from './begun_runs.ts'
import { analysisOf, plan, type StudyState } from './study_state.ts'
import { nameOf } from './training/study_training.ts'

/** Of all runs to come; runs that are on at once share the device, so their times add up. Undefined
 * where nothing is to come, or nothing is known. */
export function timeToCome(
  state: StudyState,
  estimate: (experiment: Experiment, step: number) => Estimate | undefined,
): Estimate | undefined {
  const { study, arms, results } = state
  const found = study && plan(study, arms, results)
  if (!found || found.runs.length === 0) return undefined
  const { runs } = found
  const steps = new Map(begunRuns(state).map(({ name, step }) => [name, step]))
  const each = runs.map((run) => estimate(run.arm.experiment, steps.get(nameOf(run)) ?? 0))
  const known = each.filter((one) => one !== undefined)
  // A search has rounds to come whose runs are not chosen yet.
  const all = study.search
    ? plannedCount(study, arms) - matchResults(arms, study.seeds, results).size
    : 0
  const rounds = Math.max(1, all / runs.length)
  if (known.length < runs.length) {
    const seconds = secondsLeft(runs.length, analysisOf(state)?.analysis.runs ?? [])
    return seconds === undefined ? undefined : { seconds: seconds * rounds, isMeasured: true }
  }
  return {
    seconds: inAll(known, rounds),
    isMeasured: known.every(({ isMeasured }) => isMeasured),
  }
}
