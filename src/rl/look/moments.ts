// How often a run looks at itself for later: as often as a share of its own work allows.

/** Of all dispatches of a run, what its moments may take. */
export const MOMENTS_SHARE = 0.05

/** What one costs before the first was taken: about as much as so many steps. */
const GUESSED_STEPS = 2

/** How far a run is. */
export interface RunSoFar {
  /** Its own, and those of what was looked at. */
  readonly dispatches: number
  /** Steps taken, and steps planned in all. */
  readonly steps: number
  readonly planned: number
}

/** Keeps count of what moments have cost. A function of the run's own work, so the same run has the same moments. */
export class Moments {
  #spent = 0
  #last: number | undefined

  /**
   * Whether one more that costs as much as the last one stays within the share: of what the run has done so far, or, at the ends of
   * phases, of what the whole run will have done, because these are what one looks back to.
   */
  fits({ dispatches, steps, planned }: RunSoFar, is_end_of_phase: boolean): boolean {
    if (steps === 0) return false
    const own = dispatches - this.#spent
    const cost = this.#last ?? (GUESSED_STEPS * own) / steps
    const all = is_end_of_phase ? (own / steps) * Math.max(steps, planned) : own
    return this.#spent + cost <= MOMENTS_SHARE * all
  }

  /** One was taken, for so many dispatches. */
  take(dispatches: number): void {
    this.#spent += dispatches
    this.#last = dispatches
  }
}
