// The files that the settings' experiment names: found in the browser's storage, or asked for. Train needs them all.
import { createStore } from 'zustand/vanilla'
import type { ContentFile, NamedContent } from '../../document/content/content.ts'
import type { Experiment } from '../../document/experiment/schema.ts'
import { unopenedModel } from '../../host/content/models/unopened.ts'
import { contentNames } from '../../host/content/named.ts'
import { labStore } from '../state/store.ts'

export interface Contents {
  /** none: no file is named. broken: the files are here and do not hold what the experiment says of them. */
  readonly status: 'none' | 'looking' | 'here' | 'missing' | 'broken'
  /** The files to ask for. */
  readonly missing: readonly NamedContent[]
  /** Why the files cannot be used, or why a dropped one is not one of them. */
  readonly problem: string | undefined
}

const NONE: Contents = { status: 'none', missing: [], problem: undefined }
export const contentsStore = createStore<Contents>(() => NONE)

/** Files in memory by hash: those of the settings and of the run. */
export const here = new Map<string, ContentFile>()
/** Counts up whenever another experiment is looked at. */
let looked = 0

/** The files that an experiment names, for its worker; undefined while one of them is not here, or a model is to be opened. */
export function contentsOf(experiment: Experiment): readonly ContentFile[] | undefined {
  if (unopenedModel(experiment) !== undefined) return undefined
  const files = contentNames(experiment).map(({ hash }) => here.get(hash))
  return files.every((file) => file !== undefined) ? files : undefined
}

/** Finds and loads the files of an experiment. Resolves with whether a run of it can begin; the store says why not. */
export async function findContents(experiment: Experiment): Promise<boolean> {
  const own = ++looked
  const tell = (contents: Contents) => {
    if (own === looked) contentsStore.setState(contents)
  }
  if (unopenedModel(experiment) !== undefined) {
    tell({ ...NONE, status: 'missing' })
    return false
  }
  const names = contentNames(experiment)
  if (names.length === 0) {
    tell(NONE)
    return true
  }
  tell({ ...NONE, status: 'looking' })
  try {
    // Only some experiments name files.
    const { loadAll, readAll } = await import('./content_files.ts')
    const missing = await readAll(names)
    if (missing.length > 0) {
      tell({ status: 'missing', missing, problem: undefined })
      return false
    }
    await loadAll(experiment)
    tell({ ...NONE, status: 'here' })
    return true
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error)
    tell({ ...NONE, status: 'broken', problem })
    return false
  }
}

/** What decides which files are read, and how; '' where none are. */
const keyOf = (experiment: Experiment): string => {
  const names = contentNames(experiment)
  const unopened = unopenedModel(experiment)
  if (unopened === undefined && names.length === 0) return ''
  return JSON.stringify([names, unopened, experiment.task, experiment.reward])
}

/** From now on the files of the settings are looked for whenever the settings name others. Returns how to stop. */
export function syncContents(): () => void {
  const look = (experiment: Experiment) => {
    const { run_document } = labStore.getState()
    const named = [experiment, run_document].flatMap((one) => (one ? contentNames(one) : []))
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
    contentsStore.setState(NONE)
  }
}
