// Orders the runs of a study, and says which of them are missing and how long they will take.

import type { Experiment } from '../experiment/schema/schema.ts'
import { matchResults, runKey } from './analysis.ts'
import { type Arm, runExperiment } from './arms.ts'
import { fingerprintOf } from './fingerprint.ts'
import type { RunResult } from './results.ts'
import type { Study } from './study.ts'

/** A run that is to be trained. */
export interface PlannedRun {
  readonly arm: Arm
  readonly seed: number
  readonly experiment: Experiment
}

/** All runs, seed by seed: an early look sees every arm with the same seeds. */
export const plannedRuns = ({ seeds }: Study, arms: readonly Arm[]): PlannedRun[] =>
  seeds.flatMap((seed) => arms.map((arm) => ({ arm, seed, experiment: runExperiment(arm, seed) })))

/** Those without a result. Of runs that say the same, which one result serves, the first alone. */
export function missingRuns(
  study: Study,
  arms: readonly Arm[],
  results: readonly RunResult[],
): PlannedRun[] {
  const matched = matchResults(arms, study.seeds, results)
  const missing = new Map<string, PlannedRun>()
  for (const run of plannedRuns(study, arms)) {
    const id = fingerprintOf(run.experiment)
    if (!matched.has(runKey(run.arm, run.seed)) && !missing.has(id)) missing.set(id, run)
  }
  return [...missing.values()]
}

/** Seconds until the missing runs are trained, `jobs` at a time; undefined before the first
 * result. */
export function secondsLeft(
  missing: number,
  results: readonly RunResult[],
  jobs = 1,
): number | undefined {
  if (results.length === 0) return undefined
  const each = results.reduce((sum, { seconds }) => sum + seconds, 0) / results.length
  return Math.ceil(missing / jobs) * each
}
