// Gathers the runs that the table can show: those that this browser has recorded, and those that
// its studies keep.
import { useEffect } from 'react'
import { createStore } from 'zustand/vanilla'
import type { Series } from '../../../host/columns/series.ts'
import { readColumns } from '../../../page/runs/library/library.ts'
import { libraryStore, type RunEntry, shownRuns } from '../../../page/runs/library/library_store.ts'
import type { StudyRun } from '../../../page/study/study_runs.ts'

interface StudyRuns {
  readonly runs: readonly StudyRun[]
  readonly entries: readonly RunEntry[]
}

export const studyRunsStore = createStore<StudyRuns>(() => ({ runs: [], entries: [] }))

let isFollowing = false

/** Lists the runs of the studies of this browser, from the first look at the table on. The part of
 * studies is loaded where there is one. */
async function followStudies(): Promise<void> {
  if (isFollowing) return
  isFollowing = true
  const { openStudies } = await import('../../../page/study/study_storage.ts')
  const { kept } = await (await openStudies()).read()
  // One that is made later is looked for with the next visit of the tab.
  isFollowing = kept.length > 0
  if (!isFollowing) return
  const [{ openStudy }, { studyStore }, { studyRuns }] = await Promise.all([
    import('../../../page/study/study_store.ts'),
    import('../../../page/study/study_state.ts'),
    import('../../../page/study/study_runs.ts'),
  ])
  const update = () => {
    const runs = studyRuns(studyStore.getState())
    const before = studyRunsStore.getState().runs
    if (runs.length === before.length && runs.every((run, i) => run === before[i])) return
    studyRunsStore.setState({ runs, entries: runs.map(({ entry }) => entry) })
  }
  studyStore.subscribe(({ results, study, others }, last) => {
    if (results !== last.results || study !== last.study || others !== last.others) update()
  })
  await openStudy()
  update()
}

export function useStudyRuns(): void {
  useEffect(() => void followStudies().catch(() => undefined), [])
}

let joined: { readonly of: readonly unknown[]; readonly entries: readonly RunEntry[] } | undefined

/** Recorded runs first; the same list until one changes. */
export function allRuns(
  own = shownRuns(libraryStore.getState()),
  { entries } = studyRunsStore.getState(),
): readonly RunEntry[] {
  if (entries.length === 0) return own
  if (joined?.of[0] !== own || joined.of[1] !== entries)
    joined = { of: [own, entries], entries: [...own, ...entries] }
  return joined.entries
}

/** A run that is not deleted. */
export const listedRun = (id: string): RunEntry | undefined =>
  allRuns().find((entry) => entry.id === id)

/** The columns of a run that is over; those of one of a study are what its result holds. */
export async function columnsOfPast(id: string): Promise<ReadonlyMap<string, Series>> {
  const ofStudy = studyRunsStore.getState().runs.find(({ entry }) => entry.id === id)
  return ofStudy ? ofStudy.columns : readColumns(id)
}
