// Follows in this list what other tabs do to the runs of this browser.

import { isLive, type RunHeader } from '../../../record/run/record.ts'
import { readLabels } from '../record/read_labels.ts'
import { idOf } from '../record/record_fields.ts'
import { released } from '../storage/locks.ts'
import { dropRuns, insertRun, leftHeader, putLabels, updateRun } from './library.ts'
import { libraryStore, runOf } from './library_store.ts'
import { followTabs } from './tabs.ts'

const watched = new Set<string>()

/** A page that is closed tells nothing: a run that continues in another tab is left when its lock
 * is free. */
function watch({ id, status }: RunHeader): void {
  if (!isLive(status) || watched.has(id)) return
  watched.add(id)
  void released(id).then(() => {
    watched.delete(id)
    const header = runOf(id)?.header
    if (header && isLive(header.status) && id !== libraryStore.getState().living)
      updateRun(leftHeader(header))
  })
}

/** Takes in what another tab has told. The order is kept: each waits for the same module. */
async function hear(told: unknown): Promise<void> {
  const { readHeader } = await import('../record/read.ts')
  const { header, labels, removed } = Object(told) as Record<string, unknown>
  if (Array.isArray(removed)) dropRuns(removed)
  const read = header === undefined ? undefined : readHeader(header)
  if (read?.ok) {
    if (runOf(read.header.id)) updateRun(read.header)
    else insertRun(read.header)
    watch(read.header)
  }
  const known = runOf(idOf(labels))
  if (known) putLabels(readLabels(labels, known.id, known.labels.color))
}

/** Keeps the list as other tabs write it, once it is read. Returns how to end that. */
export function followOtherTabs(): () => void {
  for (const { header } of libraryStore.getState().entries) watch(header)
  return followTabs((told) => void hear(told))
}
