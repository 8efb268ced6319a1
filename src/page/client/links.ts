// Makes links to what the page shows, and keeps the address bar in step.
import type { Experiment } from '../../document/experiment/schema/schema.ts'
import { doneByHand } from '../../document/experiment/steering/steered_kernels.ts'
import { decodeLink, encodeLink, MAX_LINK_LENGTH } from '../../document/links/link.ts'
import { labPage } from '../connection/connection.ts'
import { nextExperiment, repeatedExperiment, taughtExperiment } from '../state/next_experiment.ts'
import { type LabState, labStore } from '../state/store.ts'

/** The settings that an experiment from elsewhere comes with. */
export const settingsOf = (experiment: Experiment): Pick<LabState, 'experiment' | 'preset_id'> => ({
  experiment,
  preset_id: decodeLink(encodeLink(experiment)).preset_id,
})

/** The link that opens the experiment of `state`, what it holds, and what to tell the person who
 * copies it. `hash` is what is to be looked at (view.ts), and `more` says what of it is held. */
export function shareLink(
  hash = '',
  state = labStore.getState(),
  more: readonly string[] = [],
): {
  readonly url: string
  readonly holds: readonly string[]
  readonly says: string
} {
  const document = nextExperiment(state)
  const experiment = repeatedExperiment(state)
  const changes = doneByHand(document.steering).length
  const holds = [
    'its seed',
    ...(taughtExperiment(state) === document ? [] : ['your verdicts']),
    ...(experiment.kernels === null ? [] : ['its kernels']),
    ...(changes > 0 ? [`what was done to it (${changes})`] : []),
    ...more,
  ]
  const { runDocument } = state
  const steps = document.phases.reduce((sum, phase) => sum + phase.steps, 0)
  const what =
    runDocument && document !== runDocument
      ? `the settings (${steps} steps), not the run on screen,`
      : 'this experiment'
  const opens = `it opens ${what} with ${new Intl.ListFormat('en-GB').format(holds)}`
  const url = `${labPage().address}?${encodeLink(experiment)}${hash}`
  if (url.length <= MAX_LINK_LENGTH) return { url, holds, says: `${opens}.` }
  const says = `${opens}; with ${url.length} characters some programs cut it, so send it as a file.`
  return { url, holds, says }
}

/** Keeps the address equal to the experiment, at most every 300 ms. Returns how to stop. */
export function syncAddress(replaceQuery: (query: string) => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined
  let written = nextExperiment(labStore.getState())
  let seen = labStore.getState()
  const unsubscribe = labStore.subscribe((state) => {
    const { experiment: settings, runDocument } = state
    const isSame = settings === seen.experiment && runDocument === seen.runDocument
    seen = state
    if (isSame) return
    const experiment = nextExperiment(state)
    if (experiment === written) return
    written = experiment
    clearTimeout(timer)
    timer = setTimeout(() => replaceQuery(encodeLink(experiment)), 300)
  })
  return () => {
    clearTimeout(timer)
    unsubscribe()
  }
}
