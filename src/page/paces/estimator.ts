// Offers the one way to an estimate. What it is made from is loaded after the page is seen.
import { createStore } from 'zustand/vanilla'
import type { Experiment } from '../../document/experiment/schema/schema.ts'
import type { AdapterFacts } from '../../kernels/device/adapter.ts'

export interface Estimate {
  /** Of all steps that are to come. */
  readonly seconds: number
  /** Of them, those before the first step in which kernels compile: once for several runs. */
  readonly start?: number
  /** Runs of the same settings took so long on this adapter; else it follows from a probe of it,
   * and from other runs. */
  readonly isMeasured: boolean
}

/** From the step after `step` on, else from the first. Undefined where nothing is known of the
 * adapter. */
export type Estimator = (
  adapter: AdapterFacts,
  experiment: Experiment,
  step?: number,
) => Estimate | undefined

/** Another function whenever more is known. */
export const estimatorStore = createStore<{ readonly estimate: Estimator }>(() => ({
  estimate: () => undefined,
}))

/** Seconds of several runs, one after the other; `times` each. */
export function inAll(estimates: readonly Estimate[], times = 1): number {
  const start = Math.max(0, ...estimates.map((one) => one.start ?? 0))
  return start + times * estimates.reduce((sum, one) => sum + one.seconds - (one.start ?? 0), 0)
}
