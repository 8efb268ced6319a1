// Keeps the studies of a browser side by side: which runs each has, and what goes when one is
// deleted.
import { expandStudy } from '../../document/study/arms.ts'
import { fingerprintOf } from '../../document/study/fingerprint.ts'
import { type PlannedRun, plannedRuns } from '../../document/study/queue.ts'
import type { RunResult } from '../../document/study/results.ts'
import { planStudy } from '../../document/study/search.ts'
import type { Study } from '../../document/study/study.ts'

const runsOfStudy = new WeakMap<Study, ReadonlyMap<string, PlannedRun>>()

/** All runs that a study can have, by their fingerprints; of runs that say the same, the first. */
export function everyRunOf(study: Study): ReadonlyMap<string, PlannedRun> {
  const known = runsOfStudy.get(study)
  if (known) return known
  const expanded = expandStudy(study)
  const found = new Map<string, PlannedRun>()
  for (const run of expanded.ok ? plannedRuns(study, expanded.arms) : []) {
    const fingerprint = fingerprintOf(run.experiment)
    if (!found.has(fingerprint)) found.set(fingerprint, run)
  }
  runsOfStudy.set(study, found)
  return found
}

/** The known runs of a study. */
export function runsOf(study: Study, results: readonly RunResult[]): readonly RunResult[] {
  const own = everyRunOf(study)
  return results.filter(({ fingerprint }) => own.has(fingerprint))
}

/** The known runs that go with a study: those that no other one has; with the last study all. */
export function runsGoing(
  study: Study,
  others: readonly Study[],
  results: readonly RunResult[],
): readonly RunResult[] {
  if (others.length === 0) return results
  const kept = others.map(everyRunOf)
  return runsOf(study, results).filter(
    ({ fingerprint }) => !kept.some((own) => own.has(fingerprint)),
  )
}

/** The runs that studies have still to train. */
export const runsToCome = (
  studies: readonly Study[],
  results: readonly RunResult[],
): readonly PlannedRun[] =>
  studies.flatMap((study) => {
    const expanded = expandStudy(study)
    return expanded.ok ? planStudy(study, expanded.arms, results).runs : []
  })

/** A name for a study that nothing else has. */
export const newStudyId = (): string =>
  `study-${[...crypto.getRandomValues(new Uint32Array(3))].map((part) => part.toString(36)).join('')}`
