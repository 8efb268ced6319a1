// Measures the time of each of several runs that share a device: wall time, divided among those
// that are on.
export class TurnClock {
  readonly #now: () => number
  readonly #ms = new Map<number, number>()
  #at: number

  constructor(now = () => performance.now()) {
    this.#now = now
    this.#at = now()
  }

  start(run: number): void {
    this.#share()
    this.#ms.set(run, 0)
  }

  /** Seconds of a run that is over now. */
  end(run: number): number {
    this.#share()
    const ms = this.#ms.get(run) ?? 0
    this.#ms.delete(run)
    return ms / 1000
  }

  #share(): void {
    const now = this.#now()
    const each = (now - this.#at) / this.#ms.size
    for (const [run, ms] of this.#ms) this.#ms.set(run, ms + each)
    this.#at = now
  }
}
