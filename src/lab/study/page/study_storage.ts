// What the browser keeps of its study: the document, whether it is being trained, and every finished run.
import { type DBSchema, type IDBPDatabase, openDB } from 'idb'
import type { RunResult } from '../results.ts'
import type { Study } from '../study.ts'

/** A study of this browser. */
export interface KeptStudy {
  readonly study: Study
  /** Continued when the page is opened again. */
  readonly is_training: boolean
  /** Runs that are trained at once; absent in what an earlier version kept. */
  readonly at_once?: number
  /** What was changed in it when runs were known. */
  readonly changes: readonly string[]
}

interface StudySchema extends DBSchema {
  study: { key: string; value: KeptStudy }
  results: { key: string; value: RunResult }
}

/** Where a study is kept. */
export interface StudyStorage {
  read(): Promise<{ readonly kept: KeptStudy | undefined; readonly results: readonly RunResult[] }>
  write(kept: KeptStudy): Promise<void>
  keep(result: RunResult): Promise<void>
  clear(): Promise<void>
}

const ONLY = 'study'

function storageOf(database: IDBPDatabase<StudySchema>): StudyStorage {
  return {
    read: async () => ({
      kept: await database.get('study', ONLY),
      results: await database.getAll('results'),
    }),
    write: async (kept) => void (await database.put('study', kept, ONLY)),
    keep: async (result) => void (await database.put('results', result, result.fingerprint)),
    clear: async () => {
      await database.clear('study')
      await database.clear('results')
    },
  }
}

/** For tests, and for browsers that give the page no database: kept until the page is closed. */
function memoryStudies(): StudyStorage {
  let kept: KeptStudy | undefined
  const results = new Map<string, RunResult>()
  return {
    read: async () => ({ kept, results: [...results.values()] }),
    write: async (study) => {
      kept = study
    },
    keep: async (result) => void results.set(result.fingerprint, result),
    clear: async () => {
      kept = undefined
      results.clear()
    },
  }
}

/** The browser's own; memory where it has none. */
export async function openStudies(): Promise<StudyStorage> {
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
