// Finds the states that runs of a study are continued from when the page was left: their
// checkpoints, and the files that they need.

import { type ContentFile, shortHash } from '../../../document/content/content.ts'
import type { Experiment } from '../../../document/experiment/schema/schema.ts'
import { fingerprintOf } from '../../../document/study/fingerprint.ts'
import { newestFirst } from '../../../host/checkpoints/schedule.ts'
import { listCheckpoints, removeCheckpoints } from '../../../host/checkpoints/storage/browse.ts'
import { STUDY_RECORD } from '../../../host/checkpoints/storage/places.ts'
import { contentNames } from '../../../host/content/named.ts'

/** Where the checkpoints of a run lie: the same for the same run of a later page. */
export const recordOf = (experiment: Experiment): string =>
  `${STUDY_RECORD}${fingerprintOf(experiment)}`

/** Removes what is kept of all runs but these. */
export async function forgetStates(but: readonly Experiment[]): Promise<void> {
  const needed = new Set(but.map(recordOf))
  const kept = new Set((await listCheckpoints()).map(({ record }) => record))
  await removeCheckpoints(
    [...kept].filter((record) => record.startsWith(STUDY_RECORD) && !needed.has(record)),
  )
}

/** The steps at which runs are continued, by their fingerprints. */
export async function keptSteps(): Promise<ReadonlyMap<string, number>> {
  const states = newestFirst(await listCheckpoints()).toReversed()
  return new Map(
    states
      .filter(({ record }) => record.startsWith(STUDY_RECORD))
      .map(({ record, step }) => [record.slice(STUDY_RECORD.length), step]),
  )
}

/** The files that an experiment names, from the browser's storage. Throws where one is not
 * there. */
export async function filesOf(experiment: Experiment): Promise<readonly ContentFile[]> {
  const names = contentNames(experiment)
  if (names.length === 0) return []
  const { readContent } = await import('../../contents/load_contents.ts')
  return Promise.all(
    names.map(async (named) => {
      const file = await readContent(named.hash)
      if (!file)
        throw new Error(
          `The file ${named.name} is not in this browser (${shortHash(named.hash)}). Drop it on the page and keep it, then train.`,
        )
      return file
    }),
  )
}
