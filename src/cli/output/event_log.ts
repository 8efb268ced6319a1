// Writes a TensorBoard event file that grows while a run continues, as verl's logger of that name
// writes one.
import { mkdirSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { scalarsRecord, versionRecord } from '../../formats/tensorboard/tensorboard.ts'
import type { Metrics } from '../../host/protocol/results.ts'
import { eventFileName } from '../../jobs/logs/tensorboard_file.ts'
import { LabFailure } from '../base/command.ts'
import { attempt, type Disk, nodeDisk, reason, writeWhole } from '../base/disk.ts'

/** Where event files go, as in verl: the environment's TENSORBOARD_DIR, else tensorboard_log; a
 * folder in it for each run. */
export const eventFolder = (out: string | undefined, name: string): string =>
  join(
    process.env.TENSORBOARD_DIR || 'tensorboard_log',
    basename(resolve(out ?? (name.replace(/[^\p{L}\p{N}._-]+/gu, '_') || 'run'))),
  )

/** Each step is on the disk when `step` returns, so TensorBoard shows it at its next look. */
export class EventLog {
  readonly path: string
  readonly #disk: Disk
  readonly #file: number
  readonly #tell: (sentence: string) => void
  #isBroken = false

  /** Begins a file of its own beside those that are there: TensorBoard reads all of a folder.
   * Throws LabFailure. */
  constructor(folder: string, tell: (sentence: string) => void, disk: Disk = nodeDisk) {
    const now = Date.now() / 1000
    this.path = join(folder, eventFileName(now))
    this.#disk = disk
    this.#tell = tell
    try {
      mkdirSync(folder, { recursive: true })
      this.#file = disk.open(this.path, 'a')
    } catch (error) {
      throw new LabFailure(`--logger: ${folder}: ${reason(error)}`)
    }
    this.#write(versionRecord(now))
  }

  /** Adds the metrics of a step. Never throws: after a part of a record nothing can follow, so the
   * first failure is the last write. */
  step(step: number, metrics: Metrics): void {
    this.#write(scalarsRecord(Date.now() / 1000, step, metrics))
  }

  #write(record: Uint8Array): void {
    if (this.#isBroken) return
    const error = attempt(() => writeWhole(this.#disk, this.#file, Buffer.from(record)))
    if (error === undefined) return
    this.#isBroken = true
    this.#tell(
      `${this.path}: ${reason(error)}. The run continues without it; lab export … --to tensorboard writes the whole of it afterwards.`,
    )
  }

  close(): void {
    attempt(() => this.#disk.close(this.#file))
  }
}
