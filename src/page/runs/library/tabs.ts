// Passes messages between the tabs of one browser, so that all of them list the same runs.
import type { RunHeader, RunLabels } from '../../../record/run/record.ts'

const CHANNEL = 'understory.runs'

/** What another tab has written or removed. */
export type Told =
  | { readonly header: RunHeader }
  | { readonly labels: RunLabels }
  | { readonly removed: readonly string[] }

let channel: BroadcastChannel | undefined

/** Calls with what other tabs tell, of which nothing is known to be sound. Returns how to end
 * it. */
export function followTabs(hear: (told: unknown) => void): () => void {
  if (typeof BroadcastChannel === 'undefined') return () => {}
  const own = new BroadcastChannel(CHANNEL)
  own.onmessage = ({ data }) => hear(data)
  channel = own
  return () => {
    own.close()
    if (channel === own) channel = undefined
  }
}

/** Tells the other tabs. Nobody hears it where runs are kept in memory alone. */
export function tellTabs(told: Told): void {
  channel?.postMessage(told)
}
