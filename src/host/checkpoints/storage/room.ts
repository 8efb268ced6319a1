// Keeps the checkpoints of all runs of this browser within their budget.
import type { CheckpointEntry } from '../../protocol/checkpoint_facts.ts'
import { surplusCheckpoints } from '../schedule.ts'

/** What is asked of the page. */
export interface RoomHost {
  list(): Promise<readonly CheckpointEntry[]>
  remove(record: string, step: number): Promise<void>
  /** Runs that some tab is at work on. */
  held(): Promise<ReadonlySet<string>>
  /** Whether a person wants all of a run kept, or it continues here. */
  isKept(record: string): boolean
  totalBytes(): number
}

/** Deletes what exceeds the room, the least useful files first. Resolves with the number of deleted
 * files. */
export async function makeRoom(host: RoomHost): Promise<number> {
  const held = await host.held()
  const gone = surplusCheckpoints(
    await host.list(),
    host.totalBytes(),
    (record) => !held.has(record) && !host.isKept(record),
  )
  for (const { record, step } of gone) await host.remove(record, step)
  return gone.length
}

/** Calls `work` soon after a request, once for all requests until then, and never twice at a
 * time. */
export function once(work: () => Promise<unknown>, restMs: number): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined
  let isWorking = false
  const run = async () => {
    if (isWorking) {
      timer = setTimeout(run, restMs)
      return
    }
    timer = undefined
    isWorking = true
    await work().catch(() => {}) // the next one tries again
    isWorking = false
  }
  return () => {
    if (timer === undefined) timer = setTimeout(run, restMs)
  }
}
