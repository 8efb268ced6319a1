// Keeps deletions that have begun. A page may be closed in the middle of one, and checkpoints
// without a record would be taken for a run that lost its own: the next page finishes what was
// begun.
import * as z from 'zod/mini'
import { removeCheckpoints } from '../../../host/checkpoints/storage/browse.ts'
import type { RunStorage } from '../../../record/run/storage.ts'
import { remembered } from '../../state/remembered.ts'
import { withFreeRuns } from './locks.ts'

const MAX_IDS = 1000
const MAX_LENGTH = 100

const begun = remembered('deleting', z.array(z.unknown()), [])

/** Ids whose deletion has begun and has not been seen to end. */
export const begunDeletions = (): readonly string[] =>
  begun
    .get()
    .filter((id): id is string => typeof id === 'string' && id.length <= MAX_LENGTH)
    .slice(0, MAX_IDS)

function remember(ids: readonly string[]): void {
  if (ids.length === 0) begun.forget()
  else begun.set([...ids])
}

/** Deletes records and checkpoints, or rejects with what the storage said; then the next page tries
 * again. Runs that another tab is at work on stay, also where their deletion had begun: somebody
 * wants them now. Returns those. */
export async function deleteForGood(
  storage: RunStorage,
  ids: readonly string[],
): Promise<readonly string[]> {
  const all = [...new Set([...begunDeletions(), ...ids])]
  if (all.length === 0) return []
  remember(all)
  const kept = await withFreeRuns(all, (free) =>
    Promise.all([storage.remove(free), removeCheckpoints(free)]),
  )
  remember(begunDeletions().filter((id) => !all.includes(id)))
  return kept
}

/** Why runs are not deleted; `name` of the first, where it has one. */
export function stayWords(count: number, name = 'a record'): string {
  const runs = count > 1 ? `“${name}” and ${count - 1} more are` : `“${name}” is`
  return `${runs} not deleted: another tab is at work there. Reset or close that tab first.`
}
