// The one way to an estimate. What it is made from is loaded after the page is seen.
import { createStore } from 'zustand/vanilla'
import type { AdapterFacts } from '../../../kernels/device/adapter.ts'
import type { Experiment } from '../../experiment/schema.ts'

/** Seconds that all steps of an experiment take on an adapter, as earlier runs say; undefined where none do. */
export type Estimator = (adapter: AdapterFacts, experiment: Experiment) => number | undefined

/** Another function whenever more is known. */
export const estimatorStore = createStore<{ readonly estimate: Estimator }>(() => ({
  estimate: () => undefined,
}))
