// Writes a run's checkpoints while it goes on. A step never waits for one.
import type { Checkpoint, CheckpointFiles, SteeredState } from '../lab/checkpoints/checkpoint.ts'
import { encodeCheckpoint } from '../lab/checkpoints/file/checkpoint_file.ts'
import { HistoryLog, historyUntil } from '../lab/checkpoints/history.ts'
import {
  type CheckpointSchedule,
  DEFAULT_BUDGET_BYTES,
  isDue,
  retained,
} from '../lab/checkpoints/schedule.ts'
import { unsoundPart } from '../lab/checkpoints/sound.ts'
import type { UnsoundPart } from '../lab/protocol/guard.ts'
import { reason } from './disk.ts'

/** A run whose state can be taken. */
interface Stateful {
  readonly step: number
  exportState(): Promise<SteeredState>
}

/** What is the same in all checkpoints of a run. */
export type CheckpointOrigin = Pick<Checkpoint, 'record' | 'parent' | 'made_on'>

export interface CheckpointerOptions {
  readonly files: CheckpointFiles
  readonly origin: CheckpointOrigin
  readonly schedule: CheckpointSchedule
  /** Called before a checkpoint is written: what it counts on has to be on the disk before it. */
  readonly sync?: () => void
  /** Told why a checkpoint could not be written; the run goes on. */
  readonly onProblem: (message: string) => void
  /** The history that the run goes on from, and its last step. */
  readonly from?: { readonly history: Checkpoint['history']; readonly step: number }
  /** Milliseconds. */
  readonly now?: () => number
}

export class Checkpointer {
  /** What the run has told; whoever tells adds to it. */
  readonly log: HistoryLog
  /** A state was not finite, so it was not written: the run is over. */
  unsound: { readonly step: number; readonly part: UnsoundPart } | undefined
  readonly #options: CheckpointerOptions
  readonly #now: () => number
  #last_ms: number
  #last_step: number
  /** The step of the last one that was written. */
  #written_step: number
  #writing: Promise<void> | undefined
  #problem: string | undefined

  constructor(options: CheckpointerOptions) {
    this.#options = options
    this.#now = options.now ?? (() => performance.now())
    this.log = new HistoryLog(options.from?.history)
    this.#last_ms = this.#now()
    this.#last_step = options.from?.step ?? 0
    this.#written_step = this.#last_step
  }

  /**
   * To be called after each step that was reported. Takes the state if it is time. At most one checkpoint is under way: the next
   * is left out until that is written, or waits for it where the schedule is of steps alone.
   */
  async afterStep(run: Stateful): Promise<void> {
    const { schedule } = this.#options
    if (!isDue(this.#now(), this.#last_ms, run.step, this.#last_step, schedule)) return
    if (this.#writing && schedule.every_ms > 0) return
    await this.settled()
    this.#begin(run)
  }

  /** Writes the present state, unless that is on the disk already. */
  async finish(run: Stateful): Promise<void> {
    await this.settled()
    if (run.step > this.#written_step) this.#begin(run)
    await this.settled()
  }

  /** Resolves when nothing is under way. Never rejects. */
  async settled(): Promise<void> {
    await this.#writing
  }

  /** Why the newest one that was due is not there; undefined where it is. */
  get problem(): string | undefined {
    return this.#problem
  }

  #begin(run: Stateful): void {
    const { step } = run
    const before = this.#last_step
    this.#last_ms = this.#now()
    this.#last_step = run.step
    this.#writing = this.#write(run.exportState())
      .then(() => {
        this.#problem = undefined
        this.#written_step = step
      })
      .catch((error: unknown) => {
        // The next step may try again, once it is time; where steps alone say when, after as many of them.
        if (this.#options.schedule.every_ms > 0) this.#last_step = before
        const said = this.#problem
        this.#problem = reason(error)
        // Once, not at every try.
        if (this.#problem !== said) this.#options.onProblem(this.#problem)
      })
      .finally(() => {
        this.#writing = undefined
      })
  }

  async #write(exporting: Promise<SteeredState>): Promise<void> {
    const { files, origin, sync } = this.#options
    const run = await exporting
    const { step } = run.trainer
    // Nothing can be gone on with from weights that are no numbers.
    const part = unsoundPart(run)
    if (part) {
      this.unsound = { step, part }
      return
    }
    const history = historyUntil(this.log.history, run)
    const bytes = await encodeCheckpoint({ ...origin, run, history })
    sync?.()
    await this.#put(step, bytes)
    const entries = await files.list(origin.record)
    const kept = new Set(retained(entries, DEFAULT_BUDGET_BYTES))
    const gone = entries.filter((entry) => !kept.has(entry.step)).map((entry) => entry.step)
    await files.remove(origin.record, gone)
  }

  /** Writes one; on a full disk the older ones make room, least missed first. The newest stays until another one is whole. */
  async #put(step: number, bytes: Uint8Array<ArrayBuffer>): Promise<void> {
    const { files, origin } = this.#options
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
