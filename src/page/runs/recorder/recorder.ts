// Writes the current run down while it trains: a small header again and again, everything else
// once.

import type { RunHeader, StoredChunk } from '../../../record/run/record.ts'
import { isClosed } from '../../../record/run/storage.ts'
import type { LabState } from '../../state/store.ts'
import {
  isToBeRewritten,
  keptChanges,
  newColumns,
  type RecordedRun,
  rewind,
  summarise,
} from './recorded_run.ts'
import type { RecorderHost } from './recorder_host.ts'
import { beginRun, headerOf, statusOf } from './run_header.ts'

/** A record is written after this time, or after this many steps, whichever comes first. */
export const FLUSH_MS = 2000

export const FLUSH_STEPS = 200

/** After a write that failed. */
export const RETRY_MS = 30_000

export interface Recorder {
  /** Takes every new state of the page. */
  see(state: LabState): void
  /** Writes what is new; `isClosing` also while another write is under way, because there is no
   * later. */
  flush(isClosing?: boolean): Promise<void>
  /** Tries again at once after a failure: room was made. */
  retry(): void
  /** The run is over because its page is. */
  close(): void
  /** Stops writing runs that are deleted; their record does not begin again. */
  forget(ids: readonly string[]): void
  /** The record of the run that was seen last. */
  current(): string | undefined
}

/** Records one run after another. A run begins to be recorded with its first step. */
export class RunRecorder implements Recorder {
  readonly #host: RecorderHost
  #own: RecordedRun | undefined
  #seen = { run: -1, at: 0 }
  /** The run that was shown before: undo may bring it back to the page. */
  #before: RecordedRun | undefined
  readonly #forgotten = new Set<number>()
  #cancel: (() => void) | undefined
  #inFlight: Promise<void> | undefined
  #again = false
  #retryAt = 0

  constructor(host: RecorderHost) {
    this.#host = host
  }

  see(state: LabState): void {
    const isNew = state.run !== this.#seen.run
    if (isNew) {
      if (this.#own) this.#drop()
      this.#seen = { run: state.run, at: this.#host.now() }
      if (this.#before?.run === state.run) this.#own = this.#before
    }
    if (!state.runExperiment || state.series.size === 0 || this.#forgotten.has(state.run)) return
    const own = this.#own ?? this.#begin(state)
    if (own.state === state && own.flushedStep >= 0) return
    const { restored } = state
    if (restored && restored !== own.state.restored) rewind(own, restored.step)
    const hasTurned = statusOf(own) !== statusOf({ ...own, state })
    own.state = state
    const isDue = hasTurned || state.step - own.flushedStep >= FLUSH_STEPS
    if (isDue && this.#host.now() >= this.#retryAt) void this.flush()
    else this.#schedule(FLUSH_MS)
  }

  async flush(isClosing = false): Promise<void> {
    this.#cancel?.()
    this.#cancel = undefined
    const own = this.#own
    if (!own || this.#forgotten.has(own.run)) return
    if (this.#inFlight && !isClosing) {
      this.#again = true
      return this.#inFlight
    }
    if (this.#host.now() < this.#retryAt && !isClosing) {
      this.#schedule(this.#retryAt - this.#host.now())
      return
    }
    const wait = this.#write(own)
    this.#inFlight = wait
    await wait
    if (this.#inFlight === wait) this.#inFlight = undefined
    if (this.#again) {
      this.#again = false
      await this.flush()
    }
  }

  retry(): void {
    this.#retryAt = 0
    this.#cancel?.()
    this.#cancel = undefined
    void this.flush()
  }

  close(): void {
    if (!this.#own) return
    this.#own.wasDropped = true
    this.#own.was_left = true
    void this.flush(true)
  }

  forget(ids: readonly string[]): void {
    for (const own of [this.#own, this.#before])
      if (own && ids.includes(own.id)) this.#forgotten.add(own.run)
    if (this.#before && ids.includes(this.#before.id)) this.#before = undefined
    if (this.#own && ids.includes(this.#own.id)) this.#own = undefined
  }

  current(): string | undefined {
    return this.#own?.id
  }

  #begin(state: LabState): RecordedRun {
    const host = this.#host
    const own = beginRun(state, host, this.#seen.run === state.run ? this.#seen.at : host.now())
    this.#own = own
    summarise(own)
    host.onBegun(headerOf(own, host))
    return own
  }

  /** The page shows another run, or none. */
  #drop(): void {
    if (!this.#own) return
    this.#own.wasDropped = true
    // Its last rows must not wait behind a write that is under way.
    void this.flush(true)
    this.#before = this.#own
    this.#own = undefined
  }

  #schedule(ms: number): void {
    this.#cancel ??= this.#host.later(ms, () => {
      this.#cancel = undefined
      void this.flush()
    })
  }

  /** Writes what is new of a run. Where that fails, the run is as if nothing had been written. */
  #write(own: RecordedRun): Promise<void> {
    summarise(own)
    const { restored } = own.state
    const restoredTo = restored === own.restored ? undefined : restored?.step
    const before = {
      written: own.written,
      stored: own.stored,
      parts: own.parts,
      restored: own.restored,
    }
    const isRewritten = restoredTo === undefined && isToBeRewritten(own)
    if (isRewritten) Object.assign(own, { written: new Map(), parts: 0 })
    if (own.isGone) own.stored = new Map()
    const columns = newColumns(own)
    const hasRows = Object.keys(columns).length > 0
    const chunk: StoredChunk | undefined = hasRows
      ? { run: own.id, part: own.parts, columns }
      : undefined
    const { items, dropped, stored } = keptChanges(own)
    const header = headerOf(own, this.#host)
    own.written = new Map(
      [...own.state.series].map(([metric, column]) => [metric, { column, rows: column.length }]),
    )
    own.stored = stored
    own.parts += chunk ? 1 : 0
    own.flushedStep = own.state.step
    own.restored = restored
    const written = own.written
    const rewrittenTo = isRewritten ? own.state.step : restoredTo
    return this.#host.storage
      .write({ header, chunk, items, dropped, restored_to: rewrittenTo })
      .then(
        () => this.#hasWritten(own, header),
        (error) => {
          // Nothing of it was kept: the next write takes it along, or all that there is after the
          // run went back.
          if (own.written === written) Object.assign(own, before)
          else if (restoredTo !== undefined) own.restored = before.restored
          this.#hasFailed(own, error)
        },
      )
  }

  #hasWritten(own: RecordedRun, header: RunHeader): Promise<void> | undefined {
    this.#retryAt = 0
    own.isGone = false
    this.#host.onProblem(undefined)
    if (this.#forgotten.has(own.run)) return this.#host.storage.remove([own.id])
    this.#host.onWritten(header)
    return undefined
  }

  #hasFailed(own: RecordedRun, error: unknown): void {
    if (isClosed(error) && !own.isGone) {
      own.isGone = true
      this.#host.onGone(own.id)
      this.#schedule(0)
      return
    }
    this.#retryAt = this.#host.now() + RETRY_MS
    this.#host.onProblem(error)
    this.#schedule(RETRY_MS)
  }
}
