// Passes a person's verdicts on pairs of responses to the run and to the settings.

import { post } from '../connection/connection.ts'
import { nextExperiment, taughtExperiment } from '../state/next_experiment.ts'
import { labStore } from '../state/store.ts'

/** Says which response of the pair that is next in line is better, or that neither is. */
export function giveVerdict(choice: 'a' | 'b' | 'skip'): void {
  const pair = labStore.getState().asked?.pairs[0]
  if (pair) post({ type: 'verdict', id: pair.id, choice })
}

/** Takes the last verdict back. */
export const undoVerdict = (): void => post({ type: 'undo_verdict' })

/** Puts what a person said in this run into the settings, so that the next run repeats it. */
export function keepVerdicts(): void {
  labStore.setState((state) => {
    const experiment = taughtExperiment(state)
    // The run's own document, so that it begins again with what was done to it.
    return experiment === nextExperiment(state) ? {} : { experiment, runDocument: experiment }
  })
}
