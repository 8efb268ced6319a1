// Times from Train to the first step of a page's first run, in which kernels compile. Pure.
import type { LabStatus } from '../../record/run/run_parts.ts'

export class StartClock {
  #begunMs: number | undefined
  /** A run has compiled what most runs take. */
  isOver = false

  /** Hears that the status is another one; milliseconds once the start is over, undefined before,
   * after, and where it was not seen from its beginning. */
  hear(status: LabStatus, nowMs: number): number | undefined {
    if (this.isOver) return undefined
    const begunMs = this.#begunMs
    this.#begunMs = status === 'preparing' ? nowMs : undefined
    if (status !== 'running') return undefined
    this.isOver = true
    return begunMs === undefined ? undefined : nowMs - begunMs
  }
}
