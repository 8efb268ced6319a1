// Decides how often a run looks at itself for later: as often as a share of its own work allows,
// and at every step of a short inner phase, which would be over before the share allows anything.
import type { Phase } from '../config/phase.ts'

/** Of all dispatches of a run, what its moments may take outside short inner phases. */
export const MOMENTS_SHARE = 0.05

/** The part of it that measuring what each part does has where that is asked for; moments have the
 * rest. */
export const PARTS_SHARE = 0.8 * MOMENTS_SHARE

/** Steps of an inner phase that is looked at in each of them: so few cost little in any run. */
const SHORT_PHASE = 10

/** Whether a phase trains an inner layer of so many for a few steps: they are what its figures are
 * about. */
export const isShortInner = (phase: Phase, numHiddenLayers: number): boolean =>
  phase.kind === 'rl' && phase.target_layer < numHiddenLayers && phase.steps <= SHORT_PHASE

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

/** Keeps count of what moments have cost. A function of the run's own work, so the same run has the
 * same moments. */
export class Moments {
  #spent = 0
  /** The part of it that short phases took, which the share leaves out. */
  #free = 0
  #last: number | undefined

  /** Dispatches of all that was looked at. */
  get spent(): number {
    return this.#spent
  }

  /** Whether one more stays within the share: of what the run has done so far, or, at the ends of
   * phases, of what the whole run will have done, because these are what one looks back to. It
   * costs `known`, or else as much as the last one. */
  fits(
    { dispatches, steps, planned }: RunSoFar,
    isEndOfPhase: boolean,
    { share = MOMENTS_SHARE, known }: { readonly share?: number; readonly known?: number } = {},
  ): boolean {
    if (steps === 0) return false
    const own = dispatches - this.#spent
    const cost = known ?? this.#last ?? (GUESSED_STEPS * own) / steps
    const all = isEndOfPhase ? (own / steps) * Math.max(steps, planned) : own
    return this.#spent - this.#free + cost <= share * all
  }

  /** One was taken, for so many dispatches; of a short inner phase, or else. */
  take(dispatches: number, isShort: boolean): void {
    this.#spent += dispatches
    if (isShort) this.#free += dispatches
    this.#last = dispatches
  }
}
