// Keeps a run while it trains: takes its state when that is due, holds the newest in memory, and
// writes it off the loop. The page and the command line have this one; where its files lie is an
// interface (CheckpointFiles).
import type {
  CheckpointProblemCode,
  CheckpointSettings,
  RunHistory,
} from '../protocol/checkpoint_facts.ts'
import type { UnsoundPart } from '../protocol/guard.ts'
import type { LabEvent } from '../protocol/protocol.ts'
import type { Checkpoint, CheckpointFiles, SteeredState } from './file/checkpoint.ts'
import { historyUntil } from './history.ts'
import { DEFAULT_BUDGET_BYTES, DEFAULT_SCHEDULE, isDue } from './schedule.ts'
import { unsoundPart } from './sound.ts'
import { checkpointProblem, writeAmong } from './write_among.ts'

export const DEFAULT_CHECKPOINTS: CheckpointSettings = {
  ...DEFAULT_SCHEDULE,
  budget_bytes: DEFAULT_BUDGET_BYTES,
}

/** Between two states that are kept because the run came to rest. */
const REST_MS = 1000
/** A large state is kept less often: of the time, this share goes into it at most. */
const MAX_SHARE = 1 / 20

/** A run between two steps, as far as it is known here. */
export interface Snapshot {
  readonly state: SteeredState
  readonly history: RunHistory
}

/** Where checkpoints go. */
export interface CheckpointStorage {
  files(): Promise<CheckpointFiles>
  encode(checkpoint: Checkpoint): Promise<Uint8Array<ArrayBuffer>>
  /** Called before a checkpoint is written: what it counts on has to be on the disk before it.
   * Throws where that fails. */
  sync?(): void
}

/** What a keeper needs of its run. */
export interface KeeperHost {
  readonly run: number
  readonly record: string
  /** Undefined: no state is due before the run ends or rests. */
  readonly settings: CheckpointSettings | undefined
  /** Steps alone say when, and a state that is due waits until the one before it is written: none
   * is left out. */
  readonly isPatient?: boolean
  /** Undefined where nothing is kept beyond the memory. */
  readonly storage: CheckpointStorage | undefined
  /** What is known of the run, up to the newest step that was posted. */
  history(): RunHistory
  /** All of a checkpoint but the state and the history. */
  facts(): Omit<Checkpoint, 'run' | 'history'>
  post(event: LabEvent): void
  /** Milliseconds. */
  now(): number
}

/** When a state was taken, and of what. */
interface Moment {
  readonly step: number
  /** The verdicts until then, as text: two logs of one length can differ. */
  readonly said: string
  readonly at_ms: number
}

/** A state that is on its way from the GPU. */
interface Taken extends Moment {
  readonly state: Promise<SteeredState>
  /** The moment of the state before it. */
  readonly before: Moment
  /** The step that steps were counted from then. */
  readonly counted: number
}

export class CheckpointKeeper {
  /** The newest state that the run can go back to. */
  snapshot: Snapshot | undefined
  /** The newest state that was taken is not finite, so it was not kept; undefined where it was
   * sound. */
  unsound: { readonly step: number; readonly part: UnsoundPart } | undefined
  readonly #host: KeeperHost
  #taken: Taken | undefined
  /** The state that was taken last has landed. */
  #hasLanded = false
  #looking: Promise<Snapshot | undefined> = Promise.resolve(undefined)
  #work: Promise<void> = Promise.resolve()
  #isWriting = false
  /** Of the newest state that was taken. */
  #last: Moment
  /** Steps until the next one count from here. */
  #countsFrom = 0
  /** That the last one took. */
  #tookMs = 0
  #problem: CheckpointProblemCode | undefined

  constructor(host: KeeperHost) {
    this.#host = host
    this.#last = { step: 0, said: '', at_ms: host.now() }
  }

  /** Begins with a state from elsewhere. */
  adopt(snapshot: Snapshot): void {
    const { step } = snapshot.state.trainer
    this.#last = { step, said: '', at_ms: this.#host.now() }
    this.#countsFrom = step
    this.snapshot = snapshot
  }

  /** Writes the newest state, which may be another record's so far. */
  write(): void {
    const { snapshot } = this
    if (snapshot && !this.#taken && !this.#isWriting)
      void this.#write(snapshot, { ...this.#last, at_ms: this.#host.now() })
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

  /** KeeperHost.isPatient. */
  get isPatient(): boolean {
    return this.#host.isPatient ?? false
  }

  /** The state after `step`, with which its phase is over, should be taken: another one that is
   * under way is waited for. */
  isDueAtEnd(step: number): boolean {
    return this.#host.settings !== undefined && step > 0 && step !== this.#last.step
  }

  /** The state after `step`, which was just queued, should be taken by the clock. */
  isDue(step: number): boolean {
    const { settings } = this.#host
    if (!settings || step === 0 || !this.#isFree) return false
    const nowMs = this.#host.now()
    const { at_ms } = this.#last
    const { every_steps, every_ms } = settings
    const rareMs = every_ms === 0 ? 0 : Math.max(every_ms, this.#tookMs / MAX_SHARE)
    return isDue(nowMs, at_ms, step, this.#countsFrom, { every_steps, every_ms: rareMs })
  }

  /** In how many milliseconds a run at rest should be kept, because it is not as it was kept last:
   * 0 now, undefined never. `said`: the verdicts so far, as text. The last state of a run
   * (`isLast`) is tried again where it could not be written. */
  staleIn(step: number, said: string, isLast = false): number | undefined {
    const isKept = step === this.#last.step && said === this.#last.said
    if (isKept && !(isLast && this.#problem)) return undefined
    return Math.max(0, this.#last.at_ms + REST_MS - this.#host.now())
  }

  /** Takes the state after `step`, which was queued last. False where another one is under way.
   * `isEnd`: of a phase; where steps alone say when, they are counted on as if it had not been
   * taken. */
  take(step: number, exportState: () => Promise<SteeredState>, said = '', isEnd = false): boolean {
    if (step === 0 || this.#taken || this.#isWriting) return false
    const before = this.#last
    const counted = this.#countsFrom
    const moment = { step, said, at_ms: this.#host.now() }
    const state = exportState()
    state.catch(() => {}) // a lost device is reported elsewhere
    this.#last = moment
    if (!isEnd || !this.isPatient) this.#countsFrom = step
    this.#taken = { ...moment, state, before, counted }
    this.#hasLanded = false
    return true
  }

  /** Everything of `step` has been posted. */
  landed(step: number): void {
    const taken = this.#taken
    if (taken?.step !== step || this.#hasLanded) return
    this.#hasLanded = true
    this.#looking = taken.state.then(
      (state) => this.#look(taken, state),
      (error: unknown) => {
        if (this.#taken !== taken) return undefined
        this.#forget(taken)
        throw error
      },
    )
    this.#work = this.#looking.then(
      (kept) => kept && this.#write(kept, taken),
      () => {}, // told where it was the last one: looked()
    )
  }

  /** Resolves when it is known whether the state that landed last is finite: `unsound`. Throws
   * where it could not be read. */
  async looked(): Promise<void> {
    await this.#looking
  }

  /** Lets go of a state that is under way: its device is gone, or its numbers are broken. */
  drop(): void {
    this.unsound = undefined
    this.#looking = Promise.resolve(undefined)
    if (this.#taken) this.#forget(this.#taken)
  }

  /** Resolves when what was taken so far is written. */
  get idle(): Promise<void> {
    return this.#work
  }

  /** A state may be due: no other one is under way, or it would be waited for. */
  get #isFree(): boolean {
    if (this.isPatient) return !this.#taken || this.#hasLanded
    return !this.#taken && !this.#isWriting
  }

  /** A state that is not kept was never taken: the next one is as due as it was. */
  #forget({ before, counted }: Taken): void {
    this.#taken = undefined
    this.#last = before
    this.#countsFrom = counted
  }

  #look(taken: Taken, state: SteeredState): Snapshot | undefined {
    if (this.#taken !== taken) return undefined
    this.#taken = undefined
    const part = unsoundPart(state)
    this.unsound = part && { step: taken.step, part }
    if (part) return undefined
    this.snapshot = { state, history: historyUntil(this.#host.history(), state) }
    return this.snapshot
  }

  #write(snapshot: Snapshot, { at_ms, before }: Moment & Partial<Taken>): Promise<void> {
    const { storage, now } = this.#host
    if (!storage) return Promise.resolve()
    this.#isWriting = true
    this.#work = this.#keep(snapshot, storage, at_ms)
      .catch((error) => {
        // By the clock the next state is due as soon as it is time; where steps alone say when,
        // after as many of them.
        if (!this.isPatient && before) this.#countsFrom = before.step
        this.#tell(checkpointProblem(error))
      })
      .finally(() => {
        this.#isWriting = false
        this.#tookMs = now() - at_ms
      })
    return this.#work
  }

  async #keep(
    { state, history }: Snapshot,
    storage: CheckpointStorage,
    begunAt: number,
  ): Promise<void> {
    const host = this.#host
    const files = await storage.files()
    const bytes = await storage.encode({ ...host.facts(), run: state, history })
    const { step } = state.trainer
    storage.sync?.()
    const ends = history.phase_switches.map((begun) => begun.step)
    const budget_bytes = host.settings?.budget_bytes
    const entries = await writeAmong(files, host.record, step, bytes, { budget_bytes, ends })
    this.#problem = undefined
    host.post({
      type: 'checkpoint',
      run: host.run,
      step,
      bytes: bytes.length,
      entries,
      ms: host.now() - begunAt,
    })
  }

  /** Once for each kind, until a write succeeds. */
  #tell(problem: ReturnType<typeof checkpointProblem>): void {
    if (this.#problem === problem.code) return
    this.#problem = problem.code
    this.#host.post({ type: 'checkpoint_problem', run: this.#host.run, ...problem })
  }
}
