// Lists, labels, opens and deletes the runs of this browser: what the list shows is in
// library_store.ts.
import type { Series } from '../../../host/columns/series.ts'
import {
  isLive,
  NO_LABELS,
  RUN_COLORS,
  type RunHeader,
  type RunLabels,
} from '../../../record/run/record.ts'
import {
  memoryStorage,
  type RunStorage,
  storageProblem,
  storedJson,
} from '../../../record/run/storage.ts'
import type { PastRun } from '../record/read.ts'
import { readLabels } from '../record/read_labels.ts'
import { idOf } from '../record/record_fields.ts'
import type { Recorder } from '../recorder/recorder.ts'
import { deleteForGood, stayWords } from '../storage/deletions.ts'
import { borrowRun } from '../storage/locks.ts'
import {
  type BrokenEntry,
  EMPTY_LIBRARY,
  libraryStore,
  type RunEntry,
  runOf,
} from './library_store.ts'
import { tellTabs } from './tabs.ts'

/** From this many runs on, the oldest are offered for deletion. */
export const MAX_RUNS = 200
/** Headers are read for so long at a time, so that a page with many runs stays awake. */
const READ_MS = 8
/** So long a deletion is said, with the way back beside it. */
export const UNDO_MS = 12_000

let storage: RunStorage = memoryStorage()
const recorders = new Set<Pick<Recorder, 'forget' | 'retry'>>()
let undoTimer: ReturnType<typeof setTimeout> | undefined
/** Runs that are deleted are this page's until they are gone or back. */
const heldForDeletion = new Map<string, () => void>()

const report = (error: unknown) => libraryStore.setState({ problem: storageProblem(error) })

/** The colour that the fewest runs have. */
function freeColor(entries: readonly RunEntry[]): number {
  const uses = RUN_COLORS.map((_, i) => entries.filter(({ labels }) => labels.color === i).length)
  return uses.indexOf(Math.min(...uses))
}

/** Loaded when a record is read: the first look at the page needs none. */
const reader = () => import('../record/read.ts')

/** Reads the list. `held` are the runs that some open page is at work on; others that say they run
 * were left when their page was closed. */
export async function openLibrary(
  own: RunStorage,
  whyMemory: string,
  held: ReadonlySet<string>,
): Promise<void> {
  storage = own
  clearTimeout(undoTimer)
  letGo()
  libraryStore.setState({ ...EMPTY_LIBRARY, whyMemory })
  const [{ headers, labels }, { readHeader }] = await Promise.all([own.list(), reader()])
  const said = new Map(labels.map((value) => [idOf(value), value]))
  const entries: RunEntry[] = []
  const broken: BrokenEntry[] = []
  let begun = performance.now()
  for (const value of headers) {
    if (performance.now() - begun > READ_MS) {
      await new Promise((resolve) => setTimeout(resolve))
      begun = performance.now()
    }
    const id = idOf(value)
    const read = readHeader(value)
    if (!read.ok) {
      broken.push({ id, why: read.why })
      continue
    }
    const isLeft = isLive(read.header.status) && !held.has(id)
    const header = isLeft ? leftHeader(read.header) : read.header
    entries.push({
      id,
      header,
      labels: readLabels(said.get(id), id, entries.length % RUN_COLORS.length),
    })
  }
  entries.sort((a, b) => b.header.started_at - a.header.started_at)
  libraryStore.setState({ isReady: true, entries, broken })
}

/** A run as its page left it. */
export const leftHeader = (header: RunHeader): RunHeader => ({
  ...header,
  status: 'stopped',
  was_left: true,
})

/** Takes runs out of the list that are gone from the storage. */
export const dropRuns = (ids: readonly string[]): void =>
  libraryStore.setState(({ entries, broken, deleted, justDeleted }) => ({
    justDeleted: justDeleted.filter((id) => !ids.includes(id)),
    deleted: deleted.filter((id) => !ids.includes(id)),
    entries: entries.filter(({ id }) => !ids.includes(id)),
    broken: broken.filter(({ id }) => !ids.includes(id)),
  }))

/** A recorder that writes into the same storage. Returns how to forget it. */
export function followRecorder(own: Pick<Recorder, 'forget' | 'retry'>): () => void {
  recorders.add(own)
  return () => recorders.delete(own)
}

/** A run has begun to be recorded. */
export function addRun(header: RunHeader): void {
  // One that still trains has its labels.
  if (runOf(header.id)) updateRun(header)
  else storage.label(insertRun(header)).catch(report)
}

/** Keeps a whole run that was not trained here. Rejects where it cannot be written. */
export async function keepRun(write: Parameters<RunStorage['write']>[0]): Promise<void> {
  await storage.write(write)
  addRun(write.header)
  tellTabs({ header: write.header })
}

/** Puts a run into the list that is in the storage, or will be. Returns its labels. */
export function insertRun(header: RunHeader): RunLabels {
  const { entries } = libraryStore.getState()
  const labels: RunLabels = { ...NO_LABELS, id: header.id, color: freeColor(entries) }
  libraryStore.setState({ entries: [{ id: header.id, header, labels }, ...entries] })
  return labels
}

export function updateRun(header: RunHeader): void {
  libraryStore.setState(({ entries }) => ({
    entries: entries.map((entry) => (entry.id === header.id ? { ...entry, header } : entry)),
  }))
}

/** What a person says about a run. */
export function labelRun(id: string, said: Partial<Omit<RunLabels, 'id'>>): void {
  const entry = runOf(id)
  if (!entry) return
  const labels = readLabels({ ...entry.labels, ...said }, id, entry.labels.color)
  putLabels(labels)
  storage.label(labels).then(() => tellTabs({ labels }), report)
}

/** Labels as they are in the storage. */
export const putLabels = (labels: RunLabels): void =>
  libraryStore.setState(({ entries }) => ({
    entries: entries.map((entry) => (entry.id === labels.id ? { ...entry, labels } : entry)),
  }))

/** Writes labels again that may be gone from the storage. */
export function relabelRun(id: string): void {
  const entry = runOf(id)
  if (entry) storage.label(entry.labels).catch(report)
}

/** At most one run is the baseline; none with `undefined`. */
export function setBaseline(id: string | undefined): void {
  for (const { id: other, labels } of libraryStore.getState().entries)
    if (labels.baseline && other !== id) labelRun(other, { baseline: false })
  if (id !== undefined) labelRun(id, { baseline: true })
}

/** A run that still trains cannot be deleted. */
export const canDelete = ({ header }: RunEntry): boolean => !isLive(header.status)

/** Takes runs out of the list; they are deleted finally with commitDelete, or when the page is
 * left. Those that are deleted within UNDO_MS of one another are said together. Returns which stay
 * and why, in a sentence; '' when all are deleted. */
export async function deleteRuns(ids: readonly string[]): Promise<string> {
  const { entries, broken } = libraryStore.getState()
  const legal = [...entries.filter(canDelete), ...broken].map(({ id }) => id)
  const refused: string[] = []
  for (const id of ids) {
    if (!legal.includes(id) || heldForDeletion.has(id)) continue
    const giveBack = await borrowRun(id)
    if (giveBack) heldForDeletion.set(id, giveBack)
    else refused.push(id)
  }
  const { deleted: before, justDeleted } = libraryStore.getState()
  const deleted = [...heldForDeletion.keys()]
  const own = deleted.filter((id) => !before.includes(id))
  if (own.length > 0) {
    libraryStore.setState({ deleted, justDeleted: [...justDeleted, ...own] })
    clearTimeout(undoTimer)
    undoTimer = setTimeout(() => libraryStore.setState({ justDeleted: [] }), UNDO_MS)
  }
  if (refused.length === 0) return ''
  const { runName } = await import('../../../record/run/names.ts')
  const names = refused.flatMap((id) => runOf(id) ?? []).map((entry) => runName(entry).name)
  return stayWords(refused.length, names[0])
}

function letGo(): void {
  for (const giveBack of heldForDeletion.values()) giveBack()
  heldForDeletion.clear()
}

/** Brings deleted runs back. */
export function undoDelete(ids: readonly string[]): void {
  for (const id of ids) {
    heldForDeletion.get(id)?.()
    heldForDeletion.delete(id)
  }
  libraryStore.setState(({ deleted, justDeleted }) => ({
    deleted: deleted.filter((id) => !ids.includes(id)),
    justDeleted: justDeleted.filter((id) => !ids.includes(id)),
  }))
}

/** Deletes now what is marked to be deleted. */
export async function commitDelete(): Promise<void> {
  const { deleted } = libraryStore.getState()
  if (deleted.length === 0) return
  for (const recorder of recorders) recorder.forget(deleted)
  dropRuns(deleted)
  try {
    const kept = await deleteForGood(storage, deleted)
    tellTabs({ removed: deleted.filter((id) => !kept.includes(id)) })
    // There is room again.
    for (const recorder of recorders) recorder.retry()
  } catch (error) {
    report(error)
  } finally {
    for (const id of deleted) {
      heldForDeletion.get(id)?.()
      heldForDeletion.delete(id)
    }
  }
}

/** The oldest runs beyond MAX_RUNS that nobody pinned, nobody compares with, and that are over. */
export function surplusRuns(entries: readonly RunEntry[]): readonly RunEntry[] {
  const surplus = entries.length - MAX_RUNS
  if (surplus <= 0) return []
  const free = entries.filter(
    (entry) => canDelete(entry) && !entry.labels.pinned && !entry.labels.baseline,
  )
  return free.slice(Math.max(0, free.length - surplus))
}

let opened = 0

/** A past run to look at. Throws with a sentence for people where it cannot be read. */
export async function openRun(id: string): Promise<PastRun> {
  const [stored, { readHeader, readRun }] = await Promise.all([storage.read(id), reader()])
  if (!stored) throw new RangeError('This run is no longer there.')
  const read = readHeader(stored.header)
  if (!read.ok) throw new RangeError(`This run cannot be read. ${read.why}`)
  const header = runOf(id)?.header ?? read.header
  return readRun({ ...header, step: read.header.step }, stored, ++opened)
}

/** The columns of a past run; none where it is not there. */
export async function readColumns(id: string): Promise<ReadonlyMap<string, Series>> {
  const [chunks, { readSeries }] = await Promise.all([storage.chunks(id), reader()])
  return readSeries(chunks)
}

/** A record as it lies in the storage, as JSON, also one that cannot be understood; undefined where
 * there is none. */
export const rawRecord = async (id: string): Promise<string | undefined> =>
  storedJson(await storage.read(id))
