// Starts recording on this page: the browser's storage, its clock, and what happens when the page
// is closed.
import { version } from '../../../../package.json'
import { adapterName } from '../../../document/links/names.ts'
import { listCheckpoints, removeCheckpoint } from '../../../host/checkpoints/storage/browse.ts'
import { makeRoom, once } from '../../../host/checkpoints/storage/room.ts'
import { type RunStorage, storageProblem } from '../../../record/run/storage.ts'
import { totalBudget } from '../../state/checkpoint_settings.ts'
import { isReplaying } from '../../state/replay.ts'
import { labStore } from '../../state/store.ts'
import { keepCheckpoint } from '../checkpoints.ts'
import { parentOf } from '../recorder/parent.ts'
import { type Recorder, RunRecorder } from '../recorder/recorder.ts'
import { deleteForGood } from '../storage/deletions.ts'
import { openStorage } from '../storage/idb_storage.ts'
import { claimRun, heldRuns, releaseRun } from '../storage/locks.ts'
import { adoptOrphans } from '../storage/orphans.ts'
import { rememberLastRun } from './last_run.ts'
import {
  addRun,
  commitDelete,
  followRecorder,
  openLibrary,
  relabelRun,
  updateRun,
} from './library.ts'
import { libraryStore, runOf } from './library_store.ts'
import { followOtherTabs } from './other_tabs.ts'
import { tellTabs } from './tabs.ts'

let storage: RunStorage | undefined
const openRecorders = new Set<Recorder>()

/** A recorder of this page's storage; undefined before that is open. `onBegun` hears the id of a
 * record when its run takes the first step. */
export function newRecorder(onBegun: (id: string) => void): Recorder | undefined {
  if (!storage) return undefined
  const recorder = new RunRecorder({
    storage,
    version,
    adapterName: ({ adapter }) => (adapter ? adapterName(adapter) : ''),
    now: () => Date.now(),
    later: (ms, call) => {
      const timer = setTimeout(call, ms)
      return () => clearTimeout(timer)
    },
    parentOf,
    headerOf: (id) => runOf(id)?.header,
    onBegun: (header) => {
      void claimRun(header.id)
      rememberLastRun(header.id)
      addRun(header)
      onBegun(header.id)
    },
    onWritten: (header) => {
      updateRun(header)
      tellTabs({ header })
    },
    onGone: relabelRun,
    onProblem: (error) => {
      const problem = error === undefined ? '' : storageProblem(error)
      if (libraryStore.getState().problem !== problem) libraryStore.setState({ problem })
    },
  })
  followRecorder(recorder)
  openRecorders.add(recorder)
  return recorder
}

let hasAsked = false

/** Asks the browser not to clear what is kept when the disk is short; once, when there is something
 * to keep. */
async function askToPersist(): Promise<void> {
  if (hasAsked || isReplaying()) return
  hasAsked = true
  try {
    if (!(await navigator.storage.persisted())) await navigator.storage.persist()
  } catch {
    // It has no such promise to give.
  }
}

/** Listing all files takes a while: not after each one that is written. */
const ROOM_MS = 10_000

/** Lets the oldest checkpoints go where those of all runs take more than they may: never those of a
 * run that still trains, is pinned or compared with. */
export const keepRoom = (): Promise<number> =>
  makeRoom({
    list: () => listCheckpoints(),
    remove: removeCheckpoint,
    held: heldRuns,
    isKept: (record) => {
      const { pinned = false, baseline = false } = runOf(record)?.labels ?? {}
      return pinned || baseline || record === labStore.getState().record
    },
    totalBytes: totalBudget,
  })

/** Records every run of this page from now on. To be called once per page. */
export async function startRecording(): Promise<void> {
  const { storage: own, whyMemory } = await openStorage()
  storage = own
  try {
    // What cannot be deleted now is tried again by the next page.
    await deleteForGood(storage, []).catch(() => {})
    const held = await heldRuns()
    await adoptOrphans(storage, held, version)
    await openLibrary(storage, whyMemory, held)
    if (whyMemory === '') followOtherTabs()
  } catch (error) {
    libraryStore.setState({ isReady: true, problem: storageProblem(error) })
  }
  const recorder = newRecorder((living) => libraryStore.setState({ living }))
  const see = () => {
    // A recording that plays is nobody's run here.
    if (isReplaying()) return
    recorder?.see(labStore.getState())
    const living = recorder?.current()
    const before = libraryStore.getState().living
    if (before === living) return
    if (before !== undefined) releaseRun(before)
    libraryStore.setState({ living })
  }
  see()
  labStore.subscribe(see)
  const keepRoomSoon = once(keepRoom, ROOM_MS)
  keepRoomSoon()
  labStore.subscribe(({ checkpoints }, before) => {
    if (checkpoints.length > 0 && before.checkpoints.length === 0) void askToPersist()
    if (checkpoints !== before.checkpoints && checkpoints.length > 0) keepRoomSoon()
  })
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'hidden') keepCheckpoint()
  })
  addEventListener('pagehide', () => {
    for (const one of openRecorders) one.close()
    void commitDelete()
  })
}
