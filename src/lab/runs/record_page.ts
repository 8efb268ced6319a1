// Starts recording on this page: the browser's storage, its clock, and what happens when the page is closed.
import { version } from '../../../package.json'
import { adapterName } from '../card.ts'
import { isReplaying } from '../replay.ts'
import { labStore } from '../store.ts'
import { openStorage } from './idb_storage.ts'
import {
  addRun,
  commitDelete,
  followRecorder,
  libraryStore,
  openLibrary,
  parentOf,
  updateRun,
} from './library.ts'
import { createRecorder, type Recorder } from './recorder.ts'
import { type RunStorage, storageProblem } from './storage.ts'

const LOCK = 'understory.run.'

/** Says to other tabs that this run goes on, until the page is gone. */
function hold(id: string): void {
  // Nobody waits for it: the lock ends with the page.
  navigator.locks?.request(`${LOCK}${id}`, () => new Promise(() => {})).catch(() => {})
}

/** Runs that go on in some tab. */
async function heldRuns(): Promise<ReadonlySet<string>> {
  const held = (await navigator.locks?.query().catch(() => undefined))?.held ?? []
  const names = held.map(({ name = '' }) => name)
  return new Set(
    names.filter((name) => name.startsWith(LOCK)).map((name) => name.slice(LOCK.length)),
  )
}

const newId = (): string =>
  [...crypto.getRandomValues(new Uint8Array(12))]
    .map((byte) => byte.toString(16).padStart(2, '0'))
    .join('')

let storage: RunStorage | undefined
const open_recorders = new Set<Recorder>()

/**
 * A recorder of this page's storage; undefined before that is open. `onBegun` hears the id of a record when its run takes the
 * first step.
 */
export function newRecorder(onBegun: (id: string) => void): Recorder | undefined {
  if (!storage) return undefined
  const recorder = createRecorder({
    storage,
    version,
    adapterName: ({ adapter }) => (adapter ? adapterName(adapter) : ''),
    now: () => Date.now(),
    newId,
    later: (ms, call) => {
      const timer = setTimeout(call, ms)
      return () => clearTimeout(timer)
    },
    parentOf,
    onBegun: (header) => {
      hold(header.id)
      addRun(header)
      onBegun(header.id)
    },
    onWritten: updateRun,
    onProblem: (error) => {
      const problem = error === undefined ? '' : storageProblem(error)
      if (libraryStore.getState().problem !== problem) libraryStore.setState({ problem })
    },
  })
  followRecorder(recorder)
  open_recorders.add(recorder)
  return recorder
}

/** Records every run of this page from now on. To be called once per page. */
export async function startRecording(): Promise<void> {
  const { storage: own, why_memory } = await openStorage()
  storage = own
  try {
    await openLibrary(storage, why_memory, await heldRuns())
  } catch (error) {
    libraryStore.setState({ is_ready: true, problem: storageProblem(error) })
  }
  const recorder = newRecorder((living) => libraryStore.setState({ living }))
  const see = () => {
    // A recording that plays is nobody's run here.
    if (isReplaying()) return
    recorder?.see(labStore.getState())
    const living = recorder?.current()
    if (libraryStore.getState().living !== living) libraryStore.setState({ living })
  }
  see()
  labStore.subscribe(see)
  addEventListener('pagehide', () => {
    for (const one of open_recorders) one.close()
    void commitDelete()
  })
}
