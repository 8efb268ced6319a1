// Keeps what the page shows of a run's memory equal to the settings, before anything is trained.
import type { Experiment } from '../../document/experiment/schema/schema.ts'
import { nextExperiment } from './next_experiment.ts'
import { labStore } from './store.ts'

/** A slider passes many values, and a page that opens has more urgent things to ask. */
export const PLAN_REST_MS = 300

/** Asks for the plan of what Train would train, soon and whenever that has changed. Returns how to
 * stop. */
export function syncPlan(ask: (experiment: Experiment) => void): () => void {
  let asked = nextExperiment(labStore.getState())
  let timer = setTimeout(() => ask(asked), PLAN_REST_MS)
  const unsubscribe = labStore.subscribe((state, before) => {
    if (state.experiment === before.experiment && state.runDocument === before.runDocument) return
    const experiment = nextExperiment(state)
    if (experiment === asked) return
    asked = experiment
    clearTimeout(timer)
    timer = setTimeout(() => ask(experiment), PLAN_REST_MS)
  })
  return () => {
    clearTimeout(timer)
    unsubscribe()
  }
}
