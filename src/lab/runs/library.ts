// All runs of this browser, as the page knows them: what is in the storage, what people said of it, and what is deleted.
import { createStore } from 'zustand/vanilla'
import type { Experiment } from '../experiment.ts'
import { presetOf } from '../presets.ts'
import type { Series } from '../series.ts'
import { deleteForGood } from './deletions.ts'
import { autoName, type NamedFrom } from './names.ts'
import { idOf, type PastRun, readHeader, readLabels, readRun, readSeries } from './read.ts'
import { isLive, NO_LABELS, RUN_COLORS, type RunHeader, type RunLabels } from './record.ts'
import type { Recorder } from './recorder.ts'
import { memoryStorage, type RunStorage, storageProblem } from './storage.ts'

export interface RunEntry {
  readonly id: string
  readonly header: RunHeader
  readonly labels: RunLabels
}

/** A record that is there and cannot be understood. */
export interface BrokenEntry {
  readonly id: string
  readonly why: string
}

export interface Library {
  readonly is_ready: boolean
  /** Why runs are forgotten with the page; '' where they are kept. */
  readonly why_memory: string
  /** Why the newest write failed; '' when all is well. */
  readonly problem: string
  /** Newest first. */
  readonly entries: readonly RunEntry[]
  readonly broken: readonly BrokenEntry[]
  /** Deleted, and not yet gone: undo brings them back. */
  readonly deleted: readonly string[]
  /** The record of the living run. */
  readonly living: string | undefined
  /** Bytes of this page's origin, where the browser tells. */
  readonly storage: { readonly usage: number; readonly quota: number } | undefined
}

/** From so many runs on, the oldest are offered for deletion. */
export const MAX_RUNS = 200
/** Headers are read for so long at a time, so that a page with many runs stays awake. */
const READ_MS = 8
/** Time to take a deletion back. */
export const UNDO_MS = 12_000

const EMPTY: Library = {
  is_ready: false,
  why_memory: '',
  problem: '',
  entries: [],
  broken: [],
  deleted: [],
  living: undefined,
  storage: undefined,
}

export const libraryStore = createStore<Library>(() => EMPTY)

let storage: RunStorage = memoryStorage()
const recorders = new Set<Pick<Recorder, 'forget' | 'retry'>>()
let undo_timer: ReturnType<typeof setTimeout> | undefined
let next_parent: string | undefined

const report = (error: unknown) => libraryStore.setState({ problem: storageProblem(error) })

/** The colour that the fewest runs have. */
function freeColor(entries: readonly RunEntry[]): number {
  const uses = RUN_COLORS.map((_, i) => entries.filter(({ labels }) => labels.color === i).length)
  return uses.indexOf(Math.min(...uses))
}

/**
 * Reads the list. `held` are the runs that some open page is at work on; others that say they run were left when their page
 * was closed.
 */
export async function openLibrary(
  own: RunStorage,
  why_memory: string,
  held: ReadonlySet<string>,
): Promise<void> {
  storage = own
  clearTimeout(undo_timer)
  libraryStore.setState({ ...EMPTY, why_memory })
  const { headers, labels } = await storage.list()
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
    const is_left = isLive(read.header.status) && !held.has(id)
    const header: RunHeader = is_left
      ? { ...read.header, status: 'stopped', was_left: true }
      : read.header
    entries.push({
      id,
      header,
      labels: readLabels(said.get(id), id, entries.length % RUN_COLORS.length),
    })
  }
  entries.sort((a, b) => b.header.started_at - a.header.started_at)
  libraryStore.setState({ is_ready: true, entries, broken })
}

/** A recorder that writes into the same storage. Returns how to forget it. */
export function followRecorder(own: Pick<Recorder, 'forget' | 'retry'>): () => void {
  recorders.add(own)
  return () => recorders.delete(own)
}

/** A run has begun to be recorded. */
export function addRun(header: RunHeader): void {
  const { entries } = libraryStore.getState()
  // One that goes on has its labels.
  if (entries.some(({ id }) => id === header.id)) {
    updateRun(header)
    return
  }
  const labels: RunLabels = { ...NO_LABELS, id: header.id, color: freeColor(entries) }
  libraryStore.setState({ entries: [{ id: header.id, header, labels }, ...entries] })
  storage.label(labels).catch(report)
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
  const labels = { ...entry.labels, ...said }
  libraryStore.setState(({ entries }) => ({
    entries: entries.map((other) => (other.id === id ? { ...other, labels } : other)),
  }))
  storage.label(labels).catch(report)
}

/** At most one run is the baseline; none with `undefined`. */
export function setBaseline(id: string | undefined): void {
  for (const { id: other, labels } of libraryStore.getState().entries)
    if (labels.baseline && other !== id) labelRun(other, { baseline: false })
  if (id !== undefined) labelRun(id, { baseline: true })
}

export const runOf = (id: string): RunEntry | undefined =>
  libraryStore.getState().entries.find((entry) => entry.id === id)

/** Runs that are not deleted. */
let shown: { of: Library; entries: readonly RunEntry[] } | undefined
export function shownRuns(library: Library): readonly RunEntry[] {
  const { entries, deleted } = library
  if (deleted.length === 0) return entries
  if (shown?.of.entries !== entries || shown.of.deleted !== deleted)
    shown = { of: library, entries: entries.filter(({ id }) => !deleted.includes(id)) }
  return shown.entries
}

/** A run that is still going on cannot be deleted. */
export const canDelete = ({ header }: RunEntry): boolean => !isLive(header.status)

/**
 * Takes runs out of the list; they are gone for good after UNDO_MS, or with the next page. Those that are deleted within that
 * time are undone together.
 */
export function deleteRuns(ids: readonly string[]): void {
  const { entries, broken, deleted } = libraryStore.getState()
  const legal = [...entries.filter(canDelete), ...broken].map(({ id }) => id)
  const more = ids.filter((id) => legal.includes(id) && !deleted.includes(id))
  if (more.length === 0) return
  libraryStore.setState({ deleted: [...deleted, ...more] })
  clearTimeout(undo_timer)
  undo_timer = setTimeout(() => void commitDelete(), UNDO_MS)
}

/** Brings back what was deleted last. */
export function undoDelete(): void {
  clearTimeout(undo_timer)
  libraryStore.setState({ deleted: [] })
}

/** Deletes now what is marked to be deleted. */
export async function commitDelete(): Promise<void> {
  clearTimeout(undo_timer)
  const { deleted } = libraryStore.getState()
  if (deleted.length === 0) return
  for (const recorder of recorders) recorder.forget(deleted)
  libraryStore.setState(({ entries, broken }) => ({
    deleted: [],
    entries: entries.filter(({ id }) => !deleted.includes(id)),
    broken: broken.filter(({ id }) => !deleted.includes(id)),
  }))
  try {
    await deleteForGood(storage, deleted)
    // There is room again.
    for (const recorder of recorders) recorder.retry()
  } catch (error) {
    report(error)
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
  const stored = await storage.read(id)
  if (!stored) throw new RangeError('This run is no longer there.')
  const read = readHeader(stored.header)
  if (!read.ok) throw new RangeError(`This run cannot be read. ${read.why}`)
  const header = runOf(id)?.header ?? read.header
  return readRun({ ...header, step: read.header.step }, stored, ++opened)
}

/** The columns of a past run; none where it is not there. */
export async function readColumns(id: string): Promise<ReadonlyMap<string, Series>> {
  const stored = await storage.read(id)
  return readSeries(stored?.chunks ?? [])
}

/** What the browser says of this page's storage. */
export async function measureStorage(): Promise<void> {
  const estimate = await navigator.storage?.estimate?.().catch(() => undefined)
  const { usage, quota } = estimate ?? {}
  if (usage !== undefined && quota !== undefined)
    libraryStore.setState({ storage: { usage, quota } })
}

/** The settings were taken from this run. */
export function setNextParent(id: string | undefined): void {
  next_parent = id
}

/** The run whose settings a document goes back to; none for a preset as it is. */
export const parentOf = (preset_id: string, document: Experiment): string | undefined =>
  presetOf(preset_id)?.experiment === document ? undefined : next_parent

let named_from: { entry: RunEntry; from: NamedFrom } | undefined

/** What names are measured against: the baseline, where there is one. */
function namedFrom(entries: readonly RunEntry[]): NamedFrom | undefined {
  const entry = entries.find(({ labels }) => labels.baseline)
  if (!entry) return undefined
  const { document, preset_id } = entry.header
  const name = entry.labels.name || autoName(document, preset_id, undefined).name
  if (named_from?.from.name !== name || named_from.from.experiment !== document)
    named_from = { entry, from: { name, experiment: document } }
  return named_from.from
}

/** What to call a run, and what an automatic name is measured against. */
export function runName(
  { header, labels }: RunEntry,
  entries: readonly RunEntry[],
): { readonly name: string; readonly from: string; readonly is_automatic: boolean } {
  const baseline = labels.baseline ? undefined : namedFrom(entries)
  const automatic = autoName(header.document, header.preset_id, baseline)
  return labels.name === ''
    ? { ...automatic, is_automatic: true }
    : { name: labels.name, from: automatic.from, is_automatic: false }
}
