// Stores the browser's studies: their documents, which one is open, whether it is being trained,
// and every finished run.
import { type DBSchema, type IDBPDatabase, openDB } from 'idb'
import type { RunResult } from '../../document/study/results.ts'
import type { Study } from '../../document/study/study.ts'

/** The runs of a study that were not trained here: they came with the lab, or with a file. */
export interface RecordedRuns {
  readonly adapter: string
  /** Its name. */
  readonly file?: string
  readonly fingerprints: readonly string[]
}

/** A study of this browser. */
export interface KeptStudy {
  readonly id: string
  readonly study: Study
  /** It is on the page; at most one is. */
  readonly is_open: boolean
  /** Deleted, and not yet gone: the next page lets it go. */
  readonly is_deleted?: boolean
  /** Continued when the page is opened again. */
  readonly is_training: boolean
  /** Runs that are trained at once; absent in what an earlier version kept. */
  readonly at_once?: number
  /** What was changed in it when runs were known. */
  readonly changes: readonly string[]
  /** Absent where all of its runs were trained here. */
  readonly recorded?: RecordedRuns | undefined
  /** When its newest run was trained here, in milliseconds since 1970; absent before, and in what
   * an earlier version kept. */
  readonly trained_at?: number | undefined
  /** Why its training ended, of one that was not open then; gone once it was opened. */
  readonly problems?: readonly string[]
}

/** As it lies there. An earlier version kept one study, which was open, under the key that is its
 * id now. */
type Stored = Omit<KeptStudy, 'id' | 'is_open'> & Partial<Pick<KeptStudy, 'id' | 'is_open'>>

interface StudySchema extends DBSchema {
  study: { key: string; value: Stored }
  results: { key: string; value: RunResult }
}

/** Where studies are kept. */
export interface StudyStorage {
  read(): Promise<{ readonly kept: readonly KeptStudy[]; readonly results: readonly RunResult[] }>
  write(kept: KeptStudy): Promise<void>
  keep(result: RunResult): Promise<void>
  /** Removes a study, and runs by their fingerprints. */
  remove(id: string, fingerprints: readonly string[]): Promise<void>
}

function storageOf(database: IDBPDatabase<StudySchema>): StudyStorage {
  return {
    read: async () => {
      const transaction = database.transaction(['study', 'results'])
      const studies = transaction.objectStore('study')
      const [keys, values, results] = await Promise.all([
        studies.getAllKeys(),
        studies.getAll(),
        transaction.objectStore('results').getAll(),
      ])
      const kept = values.map((stored, i) => ({ is_open: true, ...stored, id: keys[i] }))
      return { kept, results }
    },
    write: async (kept) => void (await database.put('study', kept, kept.id)),
    keep: async (result) => void (await database.put('results', result, result.fingerprint)),
    remove: async (id, fingerprints) => {
      const transaction = database.transaction(['study', 'results'], 'readwrite')
      const results = transaction.objectStore('results')
      await Promise.all([
        transaction.objectStore('study').delete(id),
        ...fingerprints.map((fingerprint) => results.delete(fingerprint)),
        transaction.done,
      ])
    },
  }
}

/** For tests, and for browsers that give the page no database: kept until the page is closed. */
export function memoryStudies(): StudyStorage {
  const studies = new Map<string, KeptStudy>()
  const results = new Map<string, RunResult>()
  return {
    read: async () => ({ kept: [...studies.values()], results: [...results.values()] }),
    write: async (study) => void studies.set(study.id, study),
    keep: async (result) => void results.set(result.fingerprint, result),
    remove: async (id, fingerprints) => {
      studies.delete(id)
      for (const fingerprint of fingerprints) results.delete(fingerprint)
    },
  }
}

let opened: Promise<StudyStorage> | undefined

/** The browser's own, once for a page; memory where it has none. */
export function openStudies(): Promise<StudyStorage> {
  opened ??= openOnce()
  return opened
}

async function openOnce(): Promise<StudyStorage> {
  try {
    const database = await openDB<StudySchema>('understory.study', 1, {
      upgrade: (fresh) => {
        fresh.createObjectStore('study')
        fresh.createObjectStore('results')
      },
    })
    return storageOf(database)
  } catch {
    return memoryStudies()
  }
}
