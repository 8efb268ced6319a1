// Writes a file that grows by lines while a run continues. It holds whole lines in their order,
// whatever the disk does.
import { statSync } from 'node:fs'
import { attempt, type Disk, reason, writeWhole } from '../base/disk.ts'

/** Lines that the disk did not take wait in memory, up to here. */
const MAX_WAITING_BYTES = 2 ** 23

export class LineLog {
  readonly name: string
  /** Lines that could not be written and that no longer wait. Nothing is written behind them. */
  lost = 0
  readonly #disk: Disk
  readonly #file: number
  readonly #tell: (sentence: string) => void
  /** Bytes of whole lines on the disk. */
  #size: number
  #waiting: Buffer[] = []
  #waitingBytes = 0
  /** Behind the whole lines there may be a part of one. */
  #isTorn = false
  #isFailing = false

  /** Opens DIR/name. Throws where that cannot be. `tell` hears when writing begins to fail, and
   * when it works again. */
  constructor(disk: Disk, path: string, flags: 'w' | 'a', tell: (sentence: string) => void) {
    this.name = path.replace(/^.*[\\/]/, '')
    this.#disk = disk
    this.#tell = tell
    if (flags === 'w') disk.close(disk.open(path, 'w'))
    // Always at the end of the file, also after a part of a line was taken out.
    this.#file = disk.open(path, 'a')
    this.#size = flags === 'w' ? 0 : statSync(path).size
  }

  /** Lines that are not on the disk. */
  get missing(): number {
    return this.#waiting.length + this.lost
  }

  /** Adds a line, and writes it with those that wait. Never throws. */
  add(line: string): void {
    const bytes = Buffer.from(`${line}\n`)
    if (this.lost > 0 || this.#waitingBytes + bytes.length > MAX_WAITING_BYTES) this.lost++
    else {
      this.#waiting.push(bytes)
      this.#waitingBytes += bytes.length
    }
    this.write()
  }

  /** Writes what waits. Never throws. */
  write(): void {
    if (this.#waiting.length === 0) return
    const error = attempt(() => this.#write())
    if (error !== undefined && !this.#isFailing)
      this.#tell(
        `${this.name}: ${reason(error)}. The run continues; the lines wait and are tried again with the next step.`,
      )
    if (error === undefined && this.#isFailing)
      this.#tell(
        this.lost > 0 ? `${this.name}: can be written again` : `${this.name}: is whole again`,
      )
    this.#isFailing = error !== undefined
  }

  #write(): void {
    if (this.#isTorn) this.#cut()
    const bytes = Buffer.concat(this.#waiting)
    try {
      this.#isTorn = true
      writeWhole(this.#disk, this.#file, bytes)
    } catch (error) {
      attempt(() => this.#cut())
      throw error
    }
    this.#isTorn = false
    this.#size += bytes.length
    this.#waiting = []
    this.#waitingBytes = 0
  }

  /** Takes a part of a line out again. */
  #cut(): void {
    this.#disk.truncate(this.#file, this.#size)
    this.#isTorn = false
  }

  /** Puts what was written on the disk. Throws. */
  flush(): void {
    this.#disk.flush(this.#file)
  }

  close(): void {
    attempt(() => this.#disk.close(this.#file))
  }
}
