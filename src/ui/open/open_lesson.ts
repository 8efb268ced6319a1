// Holds which lesson is open, as a part of the address: `#lesson=grpo-by-hand`, or `#lesson=all`
// for the list.
import { createStore } from 'zustand/vanilla'
import { viewParts, withParts } from '../../document/links/view.ts'
import { pushEntry } from '../kit/way_back.ts'

export const ALL_LESSONS = 'all'

/** A link with a course and no lesson shows the course. */
const openIn = (hash: string): string | undefined => {
  const { lesson, course } = viewParts(hash)
  return lesson ?? (course === undefined ? undefined : ALL_LESSONS)
}

/** undefined while the page shows no lesson. */
export const openLessonStore = createStore<{ readonly open: string | undefined }>(() => ({
  open: openIn(globalThis.location?.hash ?? ''),
}))

/** Opens a lesson or the list, or closes both. The address says so, and the browser's *Back*
 * returns to what was open before. */
export function openLesson(open: string | undefined): void {
  openLessonStore.setState({ open })
  const { pathname, search, hash } = location
  if (viewParts(hash).lesson === open) return
  const parts = withParts(hash, { lesson: open })
  pushEntry(`${pathname}${search}${parts}`)
}

/** Follows an address that was changed by hand or by a link in the page. */
export const followLessonIn = (hash: string): void =>
  openLessonStore.setState({ open: openIn(hash) })
