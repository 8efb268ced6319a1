// Keeps a run while it trains: takes its state when that is due, holds the newest in memory, and writes it off the loop.
import type {
  CheckpointEntry,
  CheckpointProblemCode,
  CheckpointSettings,
  RunHistory,
} from '../protocol/checkpoint_facts.ts'
import type { UnsoundPart } from '../protocol/guard.ts'
import type { LabEvent } from '../protocol/protocol.ts'
import type { Checkpoint, CheckpointFiles, SteeredState } from './checkpoint.ts'
import { historyUntil } from './history.ts'
import { DEFAULT_BUDGET_BYTES, DEFAULT_SCHEDULE, isDue, retained } from './schedule.ts'
import { unsoundPart } from './sound.ts'

export const DEFAULT_CHECKPOINTS: CheckpointSettings = {
  ...DEFAULT_SCHEDULE,
  budget_bytes: DEFAULT_BUDGET_BYTES,
}

/** Between two states that are kept because the run came to rest. */
const REST_MS = 1000
/** A large state is kept less often: of the time, this share goes into it at most. */
const MAX_SHARE = 1 / 20
/** After a write that failed. */
const RETRY_MS = 30_000

/** A run between two steps, as far as it is known here. */
export interface Snapshot {
  readonly state: SteeredState
  readonly history: RunHistory
}

/** What a keeper needs of its run. */
export interface KeeperHost {
  readonly run: number
  readonly record: string
  readonly settings: CheckpointSettings
  /** Undefined where nothing is kept beyond the memory. */
  readonly storage:
    | {
        files(): Promise<CheckpointFiles>
        encode(checkpoint: Checkpoint): Promise<Uint8Array<ArrayBuffer>>
      }
    | undefined
  /** What is known of the run, up to the newest step that was posted. */
  history(): RunHistory
  /** All of a checkpoint but the state and the history. */
  facts(): Omit<Checkpoint, 'run' | 'history'>
  post(event: LabEvent): void
  /** Milliseconds. */
  now(): number
}

interface Pending {
  readonly step: number
  readonly state: Promise<SteeredState>
  readonly begun_at: number
}

/** What a failed write is called in the protocol, and in a sentence. */
function checkpointProblem(error: unknown): {
  readonly code: CheckpointProblemCode
  readonly message: string
} {
  const name = error instanceof Error || error instanceof DOMException ? error.name : ''
  const message = error instanceof Error ? error.message : String(error)
  if (name === 'QuotaExceededError') return { code: 'full', message }
  if (name === 'NoModificationAllowedError') return { code: 'read_only', message }
  if (name === 'CheckpointError') return { code: 'corrupt', message }
  return { code: 'other', message: message || name || 'unknown error' }
}

export class CheckpointKeeper {
  /** The newest state that the run can go back to. */
  snapshot: Snapshot | undefined
  /** The newest state that was taken is not finite, so it was not kept; undefined where it was sound. */
  unsound: { readonly step: number; readonly part: UnsoundPart } | undefined
  readonly #host: KeeperHost
  #pending: Pending | undefined
  #work: Promise<void> = Promise.resolve()
  #looking: Promise<Snapshot | undefined> = Promise.resolve(undefined)
  #is_writing = false
  /** Of the newest state that was taken. */
  #last = { step: 0, phase: 0, said: '', at_ms: 0 }
  #write_from_ms = Number.NEGATIVE_INFINITY
  /** That the last one took. */
  #took_ms = 0
  #problem: CheckpointProblemCode | undefined

  constructor(host: KeeperHost) {
    this.#host = host
    this.#last = { ...this.#last, at_ms: host.now() }
  }

  /** Begins with a state from elsewhere. */
  adopt(snapshot: Snapshot): void {
    const { trainer } = snapshot.state
    this.#last = { step: trainer.step, phase: trainer.phase, said: '', at_ms: this.#host.now() }
    this.snapshot = snapshot
  }

  /** Writes the newest state, which may be another record's so far. */
  write(): void {
    if (this.snapshot && !this.#isBusy) void this.#write(this.snapshot, this.#host.now())
  }

  /** The newest state as a file; undefined before there is one. */
  encodeNewest():
    | { readonly step: number; readonly bytes: Promise<Uint8Array<ArrayBuffer>> }
    | undefined {
    const { storage } = this.#host
    if (!this.snapshot || !storage) return undefined
    const { state, history } = this.snapshot
    const bytes = storage.encode({ ...this.#host.facts(), run: state, history })
    return { step: state.trainer.step, bytes }
  }

  /** The state after `step`, which was just queued, should be taken: by the clock, or because a phase has begun. */
  isDue(step: number, phase: number): boolean {
    if (step === 0 || this.#isBusy) return false
    const { now, settings } = this.#host
    const { step: last_step, at_ms } = this.#last
    if (phase !== this.#last.phase && now() - at_ms >= REST_MS) return true
    const { every_steps, every_ms } = settings
    const rare_ms = every_ms === 0 ? 0 : Math.max(every_ms, this.#took_ms / MAX_SHARE)
    return isDue(now(), at_ms, step, last_step, { every_steps, every_ms: rare_ms })
  }

  /**
   * In how many milliseconds a run at rest should be kept, because it is not as it was kept last: 0 now, undefined never.
   * `said`: the verdicts so far, as text; two logs of one length can differ.
   */
  staleIn(step: number, said: string): number | undefined {
    if (step === this.#last.step && said === this.#last.said) return undefined
    return Math.max(0, this.#last.at_ms + REST_MS - this.#host.now())
  }

  /** Takes the state after `step`, which was queued last. False where another one is under way. */
  take(step: number, phase: number, exportState: () => Promise<SteeredState>, said = ''): boolean {
    if (step === 0 || this.#isBusy) return false
    const begun_at = this.#host.now()
    const state = exportState()
    state.catch(() => {}) // a lost device is reported elsewhere
    this.#last = { step, phase, said, at_ms: begun_at }
    this.#pending = { step, state, begun_at }
    return true
  }

  /** Everything of `step` has been posted. */
  landed(step: number): void {
    const pending = this.#pending
    if (pending?.step !== step) return
    this.#looking = pending.state.then(
      (state) => {
        if (this.#pending !== pending) return undefined
        this.#pending = undefined
        const part = unsoundPart(state)
        this.unsound = part && { step, part }
        if (part) return undefined
        this.snapshot = { state, history: historyUntil(this.#host.history(), state) }
        return this.snapshot
      },
      () => {
        if (this.#pending === pending) this.#pending = undefined
        return undefined
      },
    )
    this.#work = this.#looking.then((kept) => kept && this.#write(kept, pending.begun_at))
  }

  /** Resolves when it is known whether the state that landed last is finite: `unsound`. */
  async looked(): Promise<void> {
    await this.#looking
  }

  /** Lets go of a state that is under way: its device is gone, or its numbers are broken. */
  drop(): void {
    this.unsound = undefined
    if (!this.#pending) return
    this.#pending = undefined
    this.#last = { ...this.#last, step: this.snapshot?.state.trainer.step ?? 0 }
  }

  /** Resolves when what was taken so far is written. */
  get idle(): Promise<void> {
    return this.#work
  }

  get #isBusy(): boolean {
    return this.#pending !== undefined || this.#is_writing
  }

  #write(snapshot: Snapshot, begun_at: number): Promise<void> {
    const { storage, now } = this.#host
    if (!storage || now() < this.#write_from_ms) return Promise.resolve()
    this.#is_writing = true
    this.#work = this.#keep(snapshot, begun_at)
      .catch((error) => {
        this.#write_from_ms = now() + RETRY_MS
        this.#tell(checkpointProblem(error))
      })
      .finally(() => {
        this.#is_writing = false
        this.#took_ms = now() - begun_at
      })
    return this.#work
  }

  async #keep({ state, history }: Snapshot, begun_at: number): Promise<void> {
    const host = this.#host
    const { run, record, settings, storage } = host
    if (!storage) return
    const files = await storage.files()
    const bytes = await storage.encode({ ...host.facts(), run: state, history })
    const { step } = state.trainer
    try {
      await files.write(record, step, bytes)
    } catch (error) {
      if (checkpointProblem(error).code !== 'full') throw error
      // Room of its own older ones, but never the newest that is there.
      const older = newestFirst(await files.list(record)).slice(1)
      if (older.length === 0) throw error
      await files.remove(record, stepsOf(older))
      await files.write(record, step, bytes)
    }
    const entries = await this.#thin(files, settings.budget_bytes, { step, bytes: bytes.length })
    this.#problem = undefined
    host.post({
      type: 'checkpoint',
      run,
      step,
      bytes: bytes.length,
      entries,
      ms: host.now() - begun_at,
    })
  }

  /** Lets older ones go. Throws where the one that was just written is not there, whole. */
  async #thin(
    files: CheckpointFiles,
    budget_bytes: number,
    written: { readonly step: number; readonly bytes: number },
  ): Promise<readonly CheckpointEntry[]> {
    const { record } = this.#host
    const all = await files.list(record)
    const own = all.find(({ step }) => step === written.step)
    if (own?.bytes !== written.bytes)
      throw new Error(
        `the checkpoint of step ${written.step} was written, and ${own ? `${own.bytes} of its ${written.bytes} bytes are` : 'no file of it is'} there`,
      )
    const stay = new Set(retained(all, budget_bytes))
    const gone = all.filter(({ step }) => !stay.has(step))
    if (gone.length > 0) await files.remove(record, stepsOf(gone))
    return all.filter(({ step }) => stay.has(step))
  }

  /** Once for each kind, until a write succeeds. */
  #tell(problem: ReturnType<typeof checkpointProblem>): void {
    if (this.#problem === problem.code) return
    this.#problem = problem.code
    this.#host.post({ type: 'checkpoint_problem', run: this.#host.run, ...problem })
  }
}

const stepsOf = (entries: readonly CheckpointEntry[]) => entries.map(({ step }) => step)

export const newestFirst = (entries: readonly CheckpointEntry[]): CheckpointEntry[] =>
  [...entries].sort((a, b) => b.step - a.step)
