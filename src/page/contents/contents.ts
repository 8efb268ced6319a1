// Finds the files that the settings' experiment names in the browser's storage, or asks for them.
// Train needs them all.
import type { Experiment } from '../../document/experiment/schema/schema.ts'
import { unopenedModel } from '../../host/content/models/unopened.ts'
import { contentNames, namedModels } from '../../host/content/named.ts'
import { isTaskHere } from '../../tasks/index.ts'
import { labStore } from '../state/store.ts'
import { type Contents, contentsStore, here, NO_CONTENTS } from './here.ts'

/** Counts up whenever another experiment is looked at. */
let looked = 0

/** Finds and loads the files of an experiment. Resolves with whether a run of it can begin; the
 * store says why not. `hasWeights`: it continues from a checkpoint, which has the models in it. */
export async function findContents(experiment: Experiment, hasWeights = false): Promise<boolean> {
  const own = ++looked
  const tell = (contents: Contents) => {
    if (own === looked) contentsStore.setState(contents)
  }
  if (unopenedModel(experiment) !== undefined) {
    tell({ ...NO_CONTENTS, status: 'missing' })
    return false
  }
  const names = contentNames(experiment)
  if (names.length === 0 && isTaskHere(experiment.task.id)) {
    tell(NO_CONTENTS)
    return true
  }
  tell({ ...NO_CONTENTS, status: 'looking' })
  try {
    // Only some experiments name files.
    const { loadAll, readAll } = await import('./load_contents.ts')
    const missing = await readAll(names, hasWeights ? [] : namedModels(experiment))
    if (missing.length > 0) {
      tell({ status: 'missing', missing, problem: undefined })
      return false
    }
    await loadAll(experiment)
    tell({ ...NO_CONTENTS, status: 'here' })
    return true
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error)
    tell({ ...NO_CONTENTS, status: 'broken', problem })
    return false
  }
}

/** What decides which files are read, and how; '' where none are. */
const keyOf = (experiment: Experiment): string => {
  const names = contentNames(experiment)
  const unopened = unopenedModel(experiment)
  if (unopened === undefined && names.length === 0 && isTaskHere(experiment.task.id)) return ''
  return JSON.stringify([names, unopened, experiment.task, experiment.reward])
}

/** From now on the files of the settings are looked for whenever the settings name others. Returns
 * how to stop. */
export function syncContents(): () => void {
  const look = (experiment: Experiment) => {
    const { runDocument } = labStore.getState()
    const named = [experiment, runDocument].flatMap((one) => (one ? contentNames(one) : []))
    for (const hash of here.keys()) if (!named.some((file) => file.hash === hash)) here.delete(hash)
    void findContents(experiment)
  }
  let seen = labStore.getState().experiment
  let key = keyOf(seen)
  if (key !== '') look(seen)
  const unsubscribe = labStore.subscribe(({ experiment }) => {
    if (experiment === seen) return
    seen = experiment
    const next = keyOf(experiment)
    if (next === key) return
    key = next
    look(experiment)
  })
  return () => {
    unsubscribe()
    looked++
    here.clear()
    contentsStore.setState(NO_CONTENTS)
  }
}
