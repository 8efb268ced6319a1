// Takes pairs of timestamps at the ends of passes.

/** Queries per query set: WebGPU's most. Two of them time one pass. */
export const QUERIES = 4096

/** Pairs of timestamps around passes, and who owns each. */
export class Stamps<Owner> {
  /** Owner of each pair of queries. */
  readonly #pairs: Owner[] = []
  readonly #querySets: GPUQuerySet[] = []
  readonly #createQueries: () => GPUQuerySet

  /** `createQueries` makes a set of QUERIES timestamps. */
  constructor(createQueries: () => GPUQuerySet) {
    this.#createQueries = createQueries
  }

  get pairs(): number {
    return this.#pairs.length
  }

  /** Sets that hold stamps, and how many each. */
  get queries(): readonly { readonly set: GPUQuerySet; readonly count: number }[] {
    const total = 2 * this.#pairs.length
    return this.#querySets.map((set, i) => ({
      set,
      count: Math.min(QUERIES, total - i * QUERIES),
    }))
  }

  /** Two more stamps, around a pass of this owner. */
  next(owner: Owner): GPUComputePassTimestampWrites {
    const first = (2 * this.#pairs.length) % QUERIES
    if (first === 0) this.#querySets.push(this.#createQueries())
    this.#pairs.push(owner)
    return {
      querySet: this.#querySets[this.#querySets.length - 1],
      beginningOfPassWriteIndex: first,
      endOfPassWriteIndex: first + 1,
    }
  }

  /** Owner and nanoseconds of each pass, from the stamps of all pairs in order. */
  times(stamps: BigUint64Array): [owner: Owner, ns: number][] {
    return this.#pairs.map((owner, i) => [
      owner,
      // Clocks of some drivers step back; that time is unknown, not negative.
      Math.max(0, Number(stamps[2 * i + 1] - stamps[2 * i])),
    ])
  }

  destroy(): void {
    for (const set of this.#querySets) set.destroy()
  }
}
