// Gives each a step in turn: of several runs none takes its next step while another has taken
// fewer. The order inside a round is free, so that one run's step computes while another one's is
// being prepared.
export class Rounds {
  /** Steps by run, of the runs that are stepping now. */
  readonly #taken = new Map<number, number>()
  #wake: (() => void)[] = []

  /** Resolves when this run may take its next step. One that has just come begins in the present
   * round. */
  async next(run: number): Promise<void> {
    const all = [...this.#taken.values()]
    if (!this.#taken.has(run)) this.#taken.set(run, all.length > 0 ? Math.min(...all) : 0)
    while (this.#isAhead(run)) await new Promise<void>((resolve) => this.#wake.push(resolve))
    const own = this.#taken.get(run)
    if (own !== undefined) this.#taken.set(run, own + 1)
    this.#changed()
  }

  /** The run takes no steps for now: it has ended, rests, or opens its GPU again. Nobody waits for
   * it. */
  leave(run: number): void {
    if (this.#taken.delete(run)) this.#changed()
  }

  /** False for a run that has left meanwhile. */
  #isAhead(run: number): boolean {
    const own = this.#taken.get(run)
    return own !== undefined && [...this.#taken.values()].some((other) => other < own)
  }

  #changed(): void {
    for (const resolve of this.#wake.splice(0)) resolve()
  }
}
