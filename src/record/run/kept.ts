// Keeps things that some steps left behind, for looking back: within a budget of bytes, spread over
// the whole run.

export interface KeptItem<T> {
  readonly step: number
  readonly item: T
  readonly bytes: number
}

/** Items by step, oldest first. When the budget is passed, items are dropped so that the rest stays
 * spread over the run: the first and the newest always stay; between them goes the one whose
 * neighbours are nearest relative to the root of its age, so recent steps stay denser than old
 * ones. */
export class Kept<T> {
  #items: KeptItem<T>[] = []
  #bytes = 0
  #budget: number

  /** `budget` in bytes. */
  constructor(budget: number) {
    this.#budget = budget
  }

  get items(): readonly KeptItem<T>[] {
    return this.#items
  }

  /** Of all that is kept. */
  get bytes(): number {
    return this.#bytes
  }

  get budget(): number {
    return this.#budget
  }

  set budget(bytes: number) {
    this.#budget = bytes
    this.#thin()
  }

  /** Keeps what a step left; a second time for the newest step replaces it. Steps must not go
   * back. */
  push(step: number, item: T, bytes: number): void {
    const last = this.#items.at(-1)
    if (last && step < last.step)
      throw new RangeError(`kept: step ${step} comes after step ${last.step}`)
    if (last?.step === step) {
      this.#items.pop()
      this.#bytes -= last.bytes
    }
    this.#items.push({ step, item, bytes })
    this.#bytes += bytes
    this.#thin()
  }

  /** Keeps what was found out about a step later, at its place among the others; replaces what was
   * kept of it. */
  insert(step: number, item: T, bytes: number): void {
    const later = this.#items.filter((other) => other.step > step)
    this.cut(step)
    this.push(step, item, bytes)
    this.#items.push(...later)
    this.#bytes += later.reduce((sum, other) => sum + other.bytes, 0)
    this.#thin()
  }

  /** Lets go of what came after a step: the run went back to it. */
  cut(step: number): void {
    while (this.#items.length > 0 && this.#items[this.#items.length - 1].step > step)
      this.#bytes -= this.#items.pop()?.bytes ?? 0
  }

  /** The newest at or before a step; without one, the newest of all. */
  at(step: number | undefined): KeptItem<T> | undefined {
    if (step === undefined) return this.#items.at(-1)
    let [low, high] = [0, this.#items.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.#items[middle].step <= step) low = middle + 1
      else high = middle
    }
    return this.#items[low - 1]
  }

  #thin(): void {
    while (this.#bytes > this.#budget && this.#items.length > 2) {
      const index = this.#leastMissed()
      this.#bytes -= this.#items[index].bytes
      this.#items.splice(index, 1)
    }
  }

  #leastMissed(): number {
    const items = this.#items
    const newest = items[items.length - 1].step
    let [least, index] = [Number.POSITIVE_INFINITY, 1]
    for (let i = 1; i < items.length - 1; i++) {
      const gap = items[i + 1].step - items[i - 1].step
      const missed = gap / Math.sqrt(newest - items[i].step + 1)
      if (missed < least) [least, index] = [missed, i]
    }
    return index
  }
}
