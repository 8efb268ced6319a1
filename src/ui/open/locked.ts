// Says which parts of the page a link or a recording keeps as they are.
import { useStore } from 'zustand'
import type { LockPart } from '../../document/links/view_options.ts'
import { replayStore } from '../../page/state/replay.ts'
import { type ShareState, shareStore } from '../../page/state/share_store.ts'
import { selectIsReplaying } from './replays.ts'

const selectLock = (state: ShareState) => state.options.lock

/** Whether the page's link, or the recording that plays, keeps this as it is (share_store.ts,
 * lockedBecause). */
export function useLocked(part: LockPart): boolean {
  const lock = useStore(shareStore, selectLock)
  const isReplaying = useStore(replayStore, selectIsReplaying)
  return isReplaying || lock.includes(part)
}
