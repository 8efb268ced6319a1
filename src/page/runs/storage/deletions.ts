// Deletions that have begun. A page may be closed in the middle of one, and checkpoints without a
// record would be taken for a run that lost its own: the next page finishes what was begun.
import { removeCheckpoints } from '../../../host/checkpoints/storage/browse.ts'
import type { RunStorage } from '../../../record/run/storage.ts'
import { withFreeRuns } from './locks.ts'

const KEY = 'understory.deleting'
const MAX_IDS = 1000
const MAX_LENGTH = 100

/** Ids whose deletion has begun and has not been seen to end. */
export function begunDeletions(): readonly string[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(KEY) ?? '[]')
    if (!Array.isArray(stored)) return []
    const ids = stored.filter((id) => typeof id === 'string' && id.length <= MAX_LENGTH)
    return ids.slice(0, MAX_IDS)
  } catch {
    return []
  }
}

function remember(ids: readonly string[]): void {
  try {
    if (ids.length === 0) localStorage.removeItem(KEY)
    else localStorage.setItem(KEY, JSON.stringify(ids))
  } catch {
    // Storage is off: then nothing of these runs outlives the page.
  }
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
