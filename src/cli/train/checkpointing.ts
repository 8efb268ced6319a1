// Writes a run's checkpoints while it continues. A step never waits for one, unless steps alone say when they are due.
import type { Checkpoint, CheckpointFiles, SteeredState } from '../../lab/checkpoints/checkpoint.ts'
import { encodeCheckpoint } from '../../lab/checkpoints/file/checkpoint_file.ts'
import { HistoryLog, historyUntil } from '../../lab/checkpoints/history.ts'
import {
  type CheckpointSchedule,
  DEFAULT_BUDGET_BYTES,
  isDue,
  retained,
} from '../../lab/checkpoints/schedule.ts'
import { unsoundPart } from '../../lab/checkpoints/sound.ts'
import type { UnsoundPart } from '../../lab/protocol/guard.ts'
import type { LoopKeeper } from '../../lab/worker/loop_host.ts'
import { reason } from '../output/disk.ts'

/** What is the same in all checkpoints of a run. */
export type CheckpointOrigin = Pick<Checkpoint, 'record' | 'parent' | 'made_on'>

/** Where checkpoints go, and when. */
export interface CheckpointerOptions {
  readonly files: CheckpointFiles
  readonly origin: CheckpointOrigin
  readonly schedule: CheckpointSchedule
  /** Called before a checkpoint is written: what it counts on has to be on the disk before it. */
  readonly sync?: () => void
  /** Told why a checkpoint could not be written; the run continues. */
  readonly onProblem: (message: string) => void
  /** The history that the run continues from, and its last step. */
  readonly from?: { readonly history: Checkpoint['history']; readonly step: number }
  /** Milliseconds. */
  readonly now?: () => number
}

/** A state that is still on its way from the GPU. */
interface Taken {
  readonly step: number
  readonly state: Promise<SteeredState>
  /** When and at which step the state before it was taken. */
  readonly before: { readonly ms: number; readonly step: number }
}

/** Keeps the states of a run in files. Without options it only looks whether the last state is finite. */
export class Checkpointer implements LoopKeeper {
  /** What the run has reported so far. */
  readonly log: HistoryLog
  unsound: { readonly step: number; readonly part: UnsoundPart } | undefined
  readonly takes_landed = true
  readonly is_patient: boolean
  readonly #options: CheckpointerOptions | undefined
  readonly #now: () => number
  #last: { readonly ms: number; readonly step: number }
  /** The step of the last one that was written. */
  #written_step: number
  #taken: Taken | undefined
  #writing: Promise<void> | undefined
  #problem: string | undefined
  /** Why the last state could not be looked at, where that is all that is asked for. */
  #blind: unknown

  constructor(options?: CheckpointerOptions) {
    this.#options = options
    this.#now = options?.now ?? (() => performance.now())
    this.log = new HistoryLog(options?.from?.history)
    this.is_patient = options?.schedule.every_ms === 0
    this.#last = { ms: this.#now(), step: options?.from?.step ?? 0 }
    this.#written_step = this.#last.step
  }

  /** At most one is under way: the next is left out until that is written, or waits for it (`is_patient`). */
  isDue(step: number): boolean {
    if (!this.#options || (this.#writing && !this.is_patient)) return false
    return isDue(this.#now(), this.#last.ms, step, this.#last.step, this.#options.schedule)
  }

  /** The present state is on the disk, or should be. */
  staleIn(step: number): number | undefined {
    return this.#options && step <= this.#written_step ? undefined : 0
  }

  take(step: number, _phase: number, exportState: () => Promise<SteeredState>): boolean {
    if (this.#writing) return false
    const state = exportState()
    state.catch(() => {}) // reported when it lands
    this.#taken = { step, state, before: this.#last }
    this.#last = { ms: this.#now(), step }
    return true
  }

  landed(step: number): void {
    if (this.#taken?.step !== step) return
    const { state, before } = this.#taken
    this.#taken = undefined
    this.#writing = this.#write(state)
      .then(() => {
        this.#problem = undefined
        this.#written_step = step
      })
      .catch((error: unknown) => {
        if (!this.#options) this.#blind = error
        // The next step may try again, once it is time; where steps alone say when, after as many of them.
        if (!this.is_patient) this.#last = { ...this.#last, step: before.step }
        const said = this.#problem
        this.#problem = reason(error)
        // Once, not at every try.
        if (this.#problem !== said) this.#options?.onProblem(this.#problem)
      })
      .finally(() => {
        this.#writing = undefined
      })
  }

  drop(): void {
    if (this.#taken) this.#last = this.#taken.before
    this.#taken = undefined
  }

  async looked(): Promise<void> {
    await this.idle
    if (this.#blind !== undefined) throw this.#blind
  }

  /** Resolves when nothing is under way. Never rejects. */
  get idle(): Promise<void> {
    return this.#writing ?? Promise.resolve()
  }

  /** Why the newest one that was due is not there; undefined where it is. */
  get problem(): string | undefined {
    return this.#problem
  }

  async #write(exporting: Promise<SteeredState>): Promise<void> {
    const run = await exporting
    const { step } = run.trainer
    // No run can continue from weights that are no numbers.
    const part = unsoundPart(run)
    if (part) this.unsound = { step, part }
    if (part || !this.#options) return
    const { files, origin, sync } = this.#options
    const history = historyUntil(this.log.history, run)
    const bytes = await encodeCheckpoint({ ...origin, run, history })
    sync?.()
    await this.#put(this.#options, step, bytes)
    const entries = await files.list(origin.record)
    const kept = new Set(retained(entries, DEFAULT_BUDGET_BYTES))
    const gone = entries.filter((entry) => !kept.has(entry.step)).map((entry) => entry.step)
    await files.remove(origin.record, gone)
  }

  /** Writes one; on a full disk the older ones make room, least missed first. The newest stays until another one is whole. */
  async #put(
    { files, origin }: CheckpointerOptions,
    step: number,
    bytes: Uint8Array<ArrayBuffer>,
  ): Promise<void> {
    let freed = 0
    for (;;)
      try {
        return await files.write(origin.record, step, bytes)
      } catch (error) {
        const older = (await files.list(origin.record)).filter((entry) => entry.step < step)
        // Where twice its size did not help, something else fills the disk.
        if (!isFull(error) || older.length < 2 || freed > 2 * bytes.length) throw error
        const held = older.reduce((sum, entry) => sum + entry.bytes, 0)
        const stay = new Set(retained(older, held - 1))
        const [gone = older[0]] = older.filter((entry) => !stay.has(entry.step))
        await files.remove(origin.record, [gone.step])
        freed += gone.bytes
      }
  }
}

/** Whether a disk, or a person's share of it, has no room. */
const isFull = (error: unknown): boolean =>
  ['ENOSPC', 'EDQUOT'].includes(`${(error as { code?: unknown }).code}`)
