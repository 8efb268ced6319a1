// Writes the living run down while it goes on: a small header again and again, everything else once.

import type { Series } from '../columns/series.ts'
import { type Experiment, withField } from '../experiment/experiment.ts'
import { Kept } from '../page/kept.ts'
import { KEPT_KINDS, type KeptKind } from '../page/kept_run.ts'
import { saidIn } from '../page/next_experiment.ts'
import type { LabState } from '../page/store.ts'
import { withVerdicts } from '../page/taught.ts'
import { PROTOCOL_VERSION } from '../protocol/protocol.ts'
import { autoName } from './names.ts'
import {
  type KeptItems,
  RECORD_VERSION,
  type RecordStatus,
  type RunHeader,
  type StoredChunk,
  type StoredColumns,
  type StoredItem,
} from './record.ts'
import { isClosed, type RunStorage, type RunWrite } from './storage.ts'
import { extendSummary, type MetricSummary } from './summary.ts'

/** A record grows after so long, or after so many steps, whichever is first. */
export const FLUSH_MS = 2000
export const FLUSH_STEPS = 200
/** After a write that failed. */
export const RETRY_MS = 30_000
/** A record in more parts than this is written anew as one. */
export const MAX_PARTS = 512
/** Of each kind of kept items, in a record: less than the page itself keeps. */
const RECORD_KEPT_BYTES = 4e6

/** What the recorder needs of the page. */
export interface RecorderHost {
  readonly storage: RunStorage
  readonly version: string
  adapterName(state: LabState): string
  /** Milliseconds since 1970. */
  now(): number
  /** Calls once, later; returns how to call it off. */
  later(ms: number, call: () => void): () => void
  /** The run whose settings this one begins with. */
  parentOf(preset_id: string, document: Experiment): string | undefined
  /** What is written of a run so far, e.g. by an earlier page. */
  headerOf(id: string): RunHeader | undefined
  onBegun(header: RunHeader): void
  onWritten(header: RunHeader): void
  /** The browser has closed the storage: what is known of this run beside its record is to be written again. */
  onGone(id: string): void
  /** Why the last write failed; undefined once one has succeeded. */
  onProblem(error: unknown): void
}

interface Recording {
  readonly id: string
  readonly run: number
  readonly started_at: number
  readonly preset_id: string
  readonly auto_name: string
  readonly parent: string | undefined
  readonly parent_step: number | undefined
  /** The newest state of this run. */
  state: LabState
  ended_at: number | undefined
  was_dropped: boolean
  was_left: boolean
  /** The state that it went back to, as far as that is written. */
  restored: LabState['restored']
  /** So many rows of these columns are written. */
  written: Map<string, { readonly column: Series; readonly rows: number }>
  /** The last step of each metric that is in `summaries`. */
  summarised: Map<string, number>
  summaries: Record<string, MetricSummary>
  parts: number
  /** The storage was closed: what is written may be gone. */
  is_gone: boolean
  readonly kept: { readonly [K in KeptKind]: Kept<KeptItems[K]> }
  /** Items in the storage, by kind and step. */
  stored: Map<string, unknown>
  flushed_step: number
}

const LIVE: readonly LabState['status'][] = ['preparing', 'running', 'paused', 'waiting']

function statusOf({ state, was_dropped }: Recording): RecordStatus {
  const { status } = state
  if (status === 'finished' || status === 'failed') return status
  if (was_dropped || !LIVE.includes(status)) return 'stopped'
  return status === 'paused' ? 'paused' : 'running'
}

const documents = new WeakMap<Experiment, { readonly of: string; readonly document: Experiment }>()

/** The document that does a run again, with what was said in it and with the kernels it ran on. */
function recordedDocument(state: LabState): Experiment {
  const { run_document, kernels } = state
  if (!run_document) return state.experiment
  const said = saidIn(state)
  const of = JSON.stringify([said, kernels])
  const known = documents.get(run_document)
  if (known?.of === of) return known.document
  const taught = withVerdicts(run_document, said)
  const needs_pin = kernels !== '' && taught.kernels === ''
  const pinned = needs_pin ? withField(taught, 'kernels', kernels) : undefined
  const document = pinned?.ok ? pinned.experiment : taught
  documents.set(run_document, { of, document })
  return document
}

const keyOf = (kind: KeptKind, step: number) => `${kind} ${step}`

/** Rows that came since the last write. */
function newColumns({ state, written }: Recording): Record<string, StoredColumns> {
  const columns: Record<string, StoredColumns> = {}
  for (const [metric, { steps, values, length, thinned }] of state.series) {
    const from = written.get(metric)?.rows ?? 0
    if (length > from)
      columns[metric] = {
        steps: steps.slice(from, length),
        values: values.slice(from, length),
        ...(thinned && { thinned }),
      }
  }
  return columns
}

/** Whether what is written has rows that are no longer kept, or lies in too many parts. */
const isToBeRewritten = ({ state, written, parts, is_gone }: Recording): boolean =>
  is_gone ||
  parts >= MAX_PARTS ||
  [...written].some(([metric, { column }]) => state.series.get(metric) !== column)

function summarise(recording: Recording): void {
  const { state, summarised, summaries } = recording
  for (const [metric, column] of state.series) {
    const { steps, values, length } = column
    const from = column.after(summarised.get(metric) ?? Number.NEGATIVE_INFINITY)
    if (length === from) continue
    summaries[metric] = extendSummary(summaries[metric], values, from, length)
    summarised.set(metric, steps[length - 1])
  }
}

function takeKept<K extends KeptKind>(recording: Recording, kind: K): void {
  const own: Kept<KeptItems[K]> = recording.kept[kind]
  const newest = own.items.at(-1)?.step ?? -1
  const from = recording.state.kept[kind] as unknown as Kept<KeptItems[K]>
  for (const { step, item, bytes } of from.items) if (step >= newest) own.push(step, item, bytes)
}

/** What of the kept items has to be written, and what to be let go. */
function keptChanges(recording: Recording): Pick<RunWrite, 'items' | 'dropped'> & {
  readonly stored: Map<string, unknown>
} {
  const items: StoredItem[] = []
  const stored = new Map<string, unknown>()
  for (const kind of KEPT_KINDS) {
    takeKept(recording, kind)
    for (const { step, item, bytes } of recording.kept[kind].items) {
      const key = keyOf(kind, step)
      stored.set(key, item)
      if (recording.stored.get(key) !== item)
        items.push({ run: recording.id, kind, step, bytes, item })
    }
  }
  const dropped = [...recording.stored.keys()]
    .filter((key) => !stored.has(key))
    .map((key) => {
      const [kind, step] = key.split(' ')
      return { kind: kind as KeptKind, step: Number(step) }
    })
  return { items, dropped, stored }
}

function headerOf(recording: Recording, host: RecorderHost): RunHeader {
  const { id, state, started_at, preset_id, auto_name, parent, parent_step, summaries } = recording
  const { experiment, run_experiment, error, kernels, step, phase, phase_step } = state
  const status = statusOf(recording)
  const is_over = status !== 'running' && status !== 'paused'
  recording.ended_at = is_over ? (recording.ended_at ?? host.now()) : undefined
  return {
    id,
    record_version: RECORD_VERSION,
    preset_id,
    auto_name,
    document: recordedDocument(state),
    experiment: run_experiment ?? experiment,
    adapter: host.adapterName(state),
    kernels,
    rollout_dtype: state.rollout_dtype,
    versions: { understory: host.version, protocol: PROTOCOL_VERSION },
    started_at,
    ended_at: recording.ended_at,
    status,
    error: status === 'failed' ? error : undefined,
    step,
    phase,
    phase_step,
    phase_switches: state.phase_switches,
    steered: state.steered,
    metrics: state.metrics,
    summaries: { ...summaries },
    parent,
    parent_step,
    was_left: status === 'stopped' && recording.was_left,
  }
}

export interface Recorder {
  /** To be told of every new state. */
  see(state: LabState): void
  /** Writes what is new; `is_closing` also while another write is under way, because there is no later. */
  flush(is_closing?: boolean): Promise<void>
  /** Tries again at once after a failure: room was made. */
  retry(): void
  /** The run is over because its page is. */
  close(): void
  /** Stops writing runs that are deleted; they are not begun anew. */
  forget(ids: readonly string[]): void
  /** The record of the run that was seen last. */
  current(): string | undefined
}

/** Records one run after another. A run begins to be recorded with its first step. */
export function createRecorder(host: RecorderHost): Recorder {
  let recording: Recording | undefined
  let seen = { run: -1, at: 0 }
  /** The run that gave way last: undo may bring it back to the page. */
  let before_it: Recording | undefined
  const forgotten_runs = new Set<number>()
  let cancel: (() => void) | undefined
  let in_flight: Promise<void> | undefined
  let again = false
  let retry_at = 0

  const begin = (state: LabState): Recording => {
    const before = host.headerOf(state.record)
    const begun_at = seen.run === state.run ? seen.at : host.now()
    const preset_id = before?.preset_id ?? state.preset_id
    const document = before?.document ?? state.run_document ?? state.experiment
    const own: Recording = {
      id: state.record,
      run: state.run,
      started_at: before?.started_at ?? begun_at,
      preset_id,
      auto_name: before?.auto_name ?? autoName(document, preset_id).name,
      parent:
        state.parent?.record ??
        (before
          ? before.parent
          : host.parentOf(state.preset_id, state.run_document ?? state.experiment)),
      parent_step: state.parent?.step,
      state,
      ended_at: undefined,
      was_dropped: false,
      was_left: false,
      restored: undefined,
      written: new Map(),
      summarised: new Map(),
      summaries: {},
      parts: 0,
      is_gone: false,
      kept: {
        samples: new Kept(RECORD_KEPT_BYTES),
        observations: new Kept(RECORD_KEPT_BYTES),
        traces: new Kept(RECORD_KEPT_BYTES),
        generations: new Kept(RECORD_KEPT_BYTES),
      },
      stored: new Map(),
      flushed_step: -1,
    }
    // What the page has of earlier steps was read from the record.
    const known_until = before ? (state.restored?.step ?? 0) : 0
    for (const kind of KEPT_KINDS)
      for (const { step, item } of state.kept[kind].items)
        if (step < known_until) own.stored.set(keyOf(kind, step), item)
    return own
  }

  /** The run went back to an earlier step: what is written of it is written anew. */
  const rewind = (own: Recording, step: number) => {
    own.written = new Map()
    own.summarised = new Map()
    own.summaries = {}
    own.parts = 0
    own.flushed_step = -1
    own.ended_at = undefined
    for (const kind of KEPT_KINDS) own.kept[kind].cut(step)
  }

  const write = (own: Recording): Promise<void> => {
    summarise(own)
    const { restored } = own.state
    const restored_to = restored === own.restored ? undefined : restored?.step
    const before = {
      written: own.written,
      stored: own.stored,
      parts: own.parts,
      restored: own.restored,
    }
    const is_rewritten = restored_to === undefined && isToBeRewritten(own)
    if (is_rewritten) Object.assign(own, { written: new Map(), parts: 0 })
    if (own.is_gone) own.stored = new Map()
    const columns = newColumns(own)
    const has_rows = Object.keys(columns).length > 0
    const chunk: StoredChunk | undefined = has_rows
      ? { run: own.id, part: own.parts, columns }
      : undefined
    const { items, dropped, stored } = keptChanges(own)
    const header = headerOf(own, host)
    own.written = new Map(
      [...own.state.series].map(([metric, column]) => [metric, { column, rows: column.length }]),
    )
    own.stored = stored
    own.parts += chunk ? 1 : 0
    own.flushed_step = own.state.step
    own.restored = restored
    const written = own.written
    const anew_to = is_rewritten ? own.state.step : restored_to
    return host.storage.write({ header, chunk, items, dropped, restored_to: anew_to }).then(
      () => {
        retry_at = 0
        own.is_gone = false
        host.onProblem(undefined)
        if (forgotten_runs.has(own.run)) return host.storage.remove([own.id])
        host.onWritten(header)
        return undefined
      },
      (error) => {
        // Nothing of it was kept: the next write takes it along, or all that there is after the run went back.
        if (own.written === written) Object.assign(own, before)
        else if (restored_to !== undefined) own.restored = before.restored
        if (isClosed(error) && !own.is_gone) {
          own.is_gone = true
          host.onGone(own.id)
          schedule(0)
          return
        }
        retry_at = host.now() + RETRY_MS
        host.onProblem(error)
        schedule(RETRY_MS)
      },
    )
  }

  const flush = async (is_closing = false): Promise<void> => {
    cancel?.()
    cancel = undefined
    const own = recording
    if (!own || forgotten_runs.has(own.run)) return
    if (in_flight && !is_closing) {
      again = true
      return in_flight
    }
    if (host.now() < retry_at && !is_closing) {
      schedule(retry_at - host.now())
      return
    }
    const wait = write(own)
    in_flight = wait
    await wait
    if (in_flight === wait) in_flight = undefined
    if (again) {
      again = false
      await flush()
    }
  }

  const schedule = (ms: number) => {
    cancel ??= host.later(ms, () => {
      cancel = undefined
      void flush()
    })
  }

  /** The run gives way to another one, or to none. */
  const drop = () => {
    if (!recording) return
    recording.was_dropped = true
    // Its last rows must not wait behind a write that is under way.
    void flush(true)
    before_it = recording
    recording = undefined
  }

  return {
    see: (state) => {
      const is_new = state.run !== seen.run
      if (is_new) {
        if (recording) drop()
        seen = { run: state.run, at: host.now() }
        if (before_it?.run === state.run) recording = before_it
      }
      if (!state.run_experiment || state.series.size === 0 || forgotten_runs.has(state.run)) return
      if (!recording) {
        recording = begin(state)
        summarise(recording)
        host.onBegun(headerOf(recording, host))
      }
      if (recording.state === state && recording.flushed_step >= 0) return
      const { restored } = state
      if (restored && restored !== recording.state.restored) rewind(recording, restored.step)
      const has_turned = statusOf(recording) !== statusOf({ ...recording, state })
      recording.state = state
      const is_due = has_turned || state.step - recording.flushed_step >= FLUSH_STEPS
      if (is_due && host.now() >= retry_at) void flush()
      else schedule(FLUSH_MS)
    },
    flush,
    retry: () => {
      retry_at = 0
      cancel?.()
      cancel = undefined
      void flush()
    },
    close: () => {
      if (!recording) return
      recording.was_dropped = true
      recording.was_left = true
      void flush(true)
    },
    forget: (ids) => {
      for (const own of [recording, before_it])
        if (own && ids.includes(own.id)) forgotten_runs.add(own.run)
      if (before_it && ids.includes(before_it.id)) before_it = undefined
      if (recording && ids.includes(recording.id)) recording = undefined
    },
    current: () => recording?.id,
  }
}
