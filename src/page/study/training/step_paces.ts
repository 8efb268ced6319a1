// Measures how fast the runs of a study step on the device that they share, and tells it to the
// estimates of the page, which need not wait for the first run to end.
import type { Experiment } from '../../../document/experiment/schema/schema.ts'
import { type Gaps, hasValidation, withGap } from '../../../record/run/time_left.ts'
import { rememberRun } from '../../paces/kept_paces.ts'

/** A run tells its pace at most once in so long. */
const TELL_MS = 2000

/** A run that has stepped, and steps on. */
interface Stepping {
  readonly gaps: Gaps
  readonly at: number
  readonly toldAt: number
}

export class StepPaces {
  readonly #remember: typeof rememberRun
  readonly #now: () => number
  readonly #stepping = new Map<number, Stepping>()
  /** They open their GPU and compile, and slow down the others without taking turns yet. */
  readonly #preparing = new Set<number>()
  /** When the runs that are on were last other ones, or prepared. */
  #changedAt = Number.NEGATIVE_INFINITY

  constructor(remember = rememberRun, now = () => performance.now()) {
    this.#remember = remember
    this.#now = now
  }

  /** A run that has taken no step yet gets ready. */
  prepare(run: number): void {
    if (!this.#stepping.has(run)) this.#preparing.add(run)
  }

  /** A step has come. Runs take turns, so each has its part of the time between two of its own,
   * where the same ones took turns all the while. */
  step(
    run: number,
    of: { readonly adapter: string; readonly experiment: Experiment },
    step: { readonly phase: number; readonly metrics: object; readonly at_ms?: number },
  ): void {
    const { phase, metrics, at_ms: now = this.#now() } = step
    const before = this.#stepping.get(run)
    if (!before) {
      this.#preparing.delete(run)
      this.#changedAt = now
      this.#stepping.set(run, { gaps: {}, at: now, toldAt: now - TELL_MS })
      return
    }
    if (this.#preparing.size > 0 || before.at < this.#changedAt) {
      this.#stepping.set(run, { ...before, at: now })
      return
    }
    const ms = (now - before.at) / this.#stepping.size
    const gaps = withGap(before.gaps, phase, { ms, isValidated: hasValidation(metrics) })
    const isTold = now - before.toldAt >= TELL_MS
    if (isTold) this.#remember(of.adapter, { runExperiment: of.experiment, gaps })
    this.#stepping.set(run, { gaps, at: now, toldAt: isTold ? now : before.toldAt })
  }

  /** A run steps no further, or not now. */
  end(run: number): void {
    this.#preparing.delete(run)
    if (this.#stepping.delete(run)) this.#changedAt = this.#now()
  }
}
