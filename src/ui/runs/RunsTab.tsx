// Runs of this browser: the table, and the ticked ones side by side.
import { useEffect, useMemo } from 'react'
import { useStore } from 'zustand'
import { MAX_RUNS, surplusRuns } from '../../page/runs/library/library.ts'
import {
  type Library,
  libraryStore,
  type RunEntry,
  shownRuns,
} from '../../page/runs/library/library_store.ts'
import { measureStorage } from '../../page/runs/library/room.ts'
import { formatBytes } from '../kit/format.ts'
import { removeRuns } from '../open/opened_run.ts'
import { useHasNoGpu } from '../part/no_gpu.ts'
import { Part } from '../part/Part.tsx'
import { Broken } from './Broken.tsx'
import { allRuns, studyRunsStore, useStudyRuns } from './base/all_runs.ts'
import { type Selection, selectionStore } from './base/selection.ts'
import { CheckpointStorage } from './checkpoints/CheckpointStorage.tsx'
import { Compare } from './compare/Compare.tsx'
import { DuelCard } from './compare/DuelCard.tsx'
import { RecentlyDeleted } from './RecentlyDeleted.tsx'
import { NotImported } from './table/NotImported.tsx'
import { RunsTable } from './table/RunsTable.tsx'
import { ImportRun, Toolbar } from './table/Toolbar.tsx'

const selectRuns = (library: Library) => shownRuns(library)
const selectLiving = ({ living }: Library) => living
const selectIsReady = ({ isReady }: Library) => isReady
const selectWhyMemory = ({ whyMemory }: Library) => whyMemory
const selectProblem = ({ problem }: Library) => problem
const selectStorage = ({ storage }: Library) => storage

/** Why runs cannot be kept, where they cannot. */
function StorageNotes({ count }: { readonly count: number }) {
  const whyMemory = useStore(libraryStore, selectWhyMemory)
  const problem = useStore(libraryStore, selectProblem)
  const runs = useStore(libraryStore, selectRuns)
  const surplus = surplusRuns(runs)
  return (
    <>
      {whyMemory ? (
        <p className="runs-note" data-testid="runs-memory">
          The browser gives this page no database ({whyMemory}), as some do in private windows: runs
          are kept until the page is closed.
        </p>
      ) : null}
      {problem ? (
        <p className="runs-note bad" role="alert" data-testid="runs-problem">
          {problem}
        </p>
      ) : null}
      {surplus.length > 0 ? (
        <p className="runs-note" data-testid="runs-surplus">
          There are {count} runs here, more than {MAX_RUNS}.{' '}
          <button type="button" onClick={() => void removeRuns(surplus.map(({ id }) => id))}>
            Delete the oldest {surplus.length} that are not pinned
          </button>
        </p>
      ) : null}
    </>
  )
}

/** `ofStudies`: how many of those in the table are runs of studies. */
export function Used(props: { readonly count: number; readonly ofStudies: number }) {
  const { count, ofStudies } = props
  const storage = useStore(libraryStore, selectStorage)
  // biome-ignore lint/correctness/useExhaustiveDependencies: another number of runs takes other room.
  useEffect(() => {
    void measureStorage()
  }, [count])
  return (
    <p className="soft" data-testid="runs-storage">
      {count === 1
        ? '1 run in this browser, and nowhere else.'
        : `${count} runs in this browser, and nowhere else.`}{' '}
      {ofStudies === 0
        ? 'Runs of studies are kept with their study.'
        : ofStudies === 1
          ? 'Beside them the table has 1 run of a study, which is kept with its study.'
          : `Beside them the table has ${ofStudies} runs of studies, which are kept with their study.`}
      {storage
        ? ` This page uses ${formatBytes(storage.usage)} of the ${formatBytes(storage.quota)} that the browser grants it.`
        : ''}
    </p>
  )
}

const selectWithStudies = ({ view }: Selection) => view.withStudies

/** All runs, and those of them that the table has. Where nothing but studies was trained, it has
 * theirs. */
function useListed(own: readonly RunEntry[]) {
  useStudyRuns()
  const ofStudies = useStore(studyRunsStore)
  const withStudies = useStore(selectionStore, selectWithStudies)
  const all = useMemo(() => allRuns(own, ofStudies), [own, ofStudies])
  return {
    all,
    listed: withStudies || own.length === 0 ? all : own,
    ofStudies: ofStudies.entries.length,
  }
}

export function RunsTab() {
  const runs = useStore(libraryStore, selectRuns)
  const living = useStore(libraryStore, selectLiving)
  const isReady = useStore(libraryStore, selectIsReady)
  const { all, listed, ofStudies } = useListed(runs)
  const hasNoGpu = useHasNoGpu()
  return (
    <>
      <section className="card runs" aria-labelledby="runs-title" data-testid="runs">
        <h2 id="runs-title">Runs</h2>
        <StorageNotes count={runs.length} />
        {all.length === 0 ? (
          <>
            <p className="soft">
              {!isReady
                ? 'Reading …'
                : hasNoGpu
                  ? 'Runs that are trained in this browser are written down here, and training needs a GPU. Recordings are not listed; runs from files are.'
                  : 'Every run is written down here from its first step, and stays when the page is closed: in this browser, and nowhere else. Tick two or more to see them side by side.'}
            </p>
            <div className="run-ways">
              <ImportRun />
            </div>
            <NotImported />
          </>
        ) : (
          <>
            <Part name="The tools of the runs">
              <Toolbar entries={listed} ofStudies={runs.length === 0 ? 0 : ofStudies} />
            </Part>
            <Part name="The table of runs">
              <RunsTable entries={listed} living={living} />
            </Part>
          </>
        )}
        <Part name="The deleted runs">
          <RecentlyDeleted />
        </Part>
        <Part name="The unreadable records">
          <Broken />
        </Part>
        {runs.length === 0 ? null : (
          <>
            <Used count={runs.length} ofStudies={listed.length - runs.length} />
            <Part name="The kept checkpoints">
              <CheckpointStorage count={runs.length} />
            </Part>
          </>
        )}
      </section>
      <Part name="The comparison">
        <Compare entries={all} />
      </Part>
      <Part name="The duel">
        <DuelCard entries={runs} />
      </Part>
    </>
  )
}
