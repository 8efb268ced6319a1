// The files that the settings' experiment names: found in the browser's storage, or asked for. Train needs them all.
import { createStore } from 'zustand/vanilla'
import { type ContentFile, contentHash, type NamedContent } from '../../content/content.ts'
import { contentNames } from '../../content/named.ts'
import type { Experiment } from '../../experiment/schema.ts'
import { labPage } from '../client/connection.ts'
import { nextExperiment } from '../next_experiment.ts'
import { labStore } from '../store.ts'

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
const here = new Map<string, ContentFile>()
/** Counts up whenever another experiment is looked at. */
let looked = 0

/** The files that an experiment names, for its worker; undefined while one of them is not here. */
export function contentsOf(experiment: Experiment): readonly ContentFile[] | undefined {
  const files = contentNames(experiment).map(({ hash }) => here.get(hash))
  return files.every((file) => file !== undefined) ? files : undefined
}

/** Finds and loads the files of an experiment. Resolves with whether a run of it can begin; the store says why not. */
export async function findContents(experiment: Experiment): Promise<boolean> {
  const own = ++looked
  const tell = (contents: Contents) => {
    if (own === looked) contentsStore.setState(contents)
  }
  const names = contentNames(experiment)
  if (names.length === 0) {
    tell(NONE)
    return true
  }
  tell({ ...NONE, status: 'looking' })
  try {
    const missing = await readAll(names)
    if (missing.length > 0) {
      tell({ status: 'missing', missing, problem: undefined })
      return false
    }
    const { loadContents } = await import('../../content/load.ts')
    const { trainBpeInWorker } = await import('./bpe_training.ts')
    await loadContents(experiment, contentsOf(experiment) ?? [], trainBpeInWorker())
    tell({ ...NONE, status: 'here' })
    return true
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error)
    tell({ ...NONE, status: 'broken', problem })
    return false
  }
}

/** Reads what is not in memory yet; returns what is in no storage either. */
async function readAll(names: readonly NamedContent[]): Promise<NamedContent[]> {
  const missing: NamedContent[] = []
  for (const named of names) {
    if (here.has(named.hash)) continue
    const store = await labPage().contents?.()
    const file = await store?.read(named.hash)
    if (file) here.set(named.hash, file)
    else missing.push(named)
  }
  return missing
}

/** Keeps a file for experiments that name it. It is in memory also where the browser has no room for it. */
export async function keepContent(file: ContentFile): Promise<void> {
  here.set(file.hash, file)
  const store = await labPage().contents?.()
  await store?.put(file.bytes, file.name).catch(() => {})
}

const extensionOf = (name: string): string => name.toLowerCase().replace(/^.*\./s, '')

/**
 * Takes a file while some are missing. False where it is none of them and of another kind, so that it may be meant otherwise. One of the
 * same kind with another hash is refused: the store says both hashes, and nothing is changed.
 */
export async function bringContent(name: string, bytes: Uint8Array<ArrayBuffer>): Promise<boolean> {
  const { missing } = contentsStore.getState()
  const hash = await contentHash(bytes)
  const named = missing.find((file) => file.hash === hash)
  if (named) {
    await keepContent({ hash, name: named.name, bytes })
    await findContents(nextExperiment(labStore.getState()))
    return true
  }
  if (!missing.some((file) => extensionOf(file.name) === extensionOf(name))) return false
  const wanted = missing.map((file) => `${file.name}, which is ${file.hash}`).join(', and ')
  const problem = `${name} is ${hash}. This experiment uses ${wanted}. Nothing was changed.`
  contentsStore.setState({ problem })
  return true
}

/** What decides which files are read, and how; '' where none are. */
const keyOf = (experiment: Experiment): string =>
  contentNames(experiment).length === 0 ? '' : JSON.stringify([experiment.task, experiment.reward])

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
