// Which run began last in this browser. Times of day do not say it: a clock may be set back between
// two runs.
import type { RunEntry } from './library.ts'

const KEY = 'understory.last_run'

export function rememberLastRun(id: string): void {
  try {
    localStorage.setItem(KEY, id)
  } catch {
    // Storage is off: the times of day have to do.
  }
}

function lastRunId(): string | undefined {
  try {
    return localStorage.getItem(KEY) ?? undefined
  } catch {
    return undefined
  }
}

/** The run that began last: as it was remembered, else the newest by the clock. `entries`: newest
 * first by the clock. */
export const lastRun = (
  entries: readonly RunEntry[],
  id: string | undefined = lastRunId(),
): RunEntry | undefined => entries.find((entry) => entry.id === id) ?? entries[0]
