// Keeps records in IndexedDB.
import { type DBSchema, type IDBPDatabase, openDB } from 'idb'
import { KEPT_KINDS, type KeptKind } from '../../../record/run/kept_run.ts'
import type { RunHeader, RunLabels, StoredChunk, StoredItem } from '../../../record/run/record.ts'
import { memoryStorage, type RunStorage } from '../../../record/run/storage.ts'
import { reopening } from './reopening.ts'

interface RunsSchema extends DBSchema {
  headers: { key: string; value: RunHeader }
  labels: { key: string; value: RunLabels }
  chunks: { key: [string, number]; value: StoredChunk }
  items: { key: [string, KeptKind, number]; value: StoredItem }
}

type Database = IDBPDatabase<RunsSchema>

const DATABASE_NAME = 'understory.runs'

/** What brings a database from version i to i + 1: later versions add entries, and never change
 * these. */
const UPGRADES: readonly ((database: Database) => void)[] = [
  (database) => {
    database.createObjectStore('headers', { keyPath: 'id' })
    database.createObjectStore('labels', { keyPath: 'id' })
    database.createObjectStore('chunks', { keyPath: ['run', 'part'] })
    database.createObjectStore('items', { keyPath: ['run', 'kind', 'step'] })
  },
]

const STORES = ['headers', 'labels', 'chunks', 'items'] as const

/** Everything of one run in a store whose keys begin with its id. */
const ofRun = (id: string) => IDBKeyRange.bound([id], [id, []])

const itemsAfter = (id: string, kind: KeptKind, step: number) =>
  IDBKeyRange.bound([id, kind, step], [id, kind, []], true)

/** A request that fails aborts its transaction, which reports it. */
const quiet = (request: Promise<unknown>) => request.catch(() => {})

function storageOf(database: Database): RunStorage {
  return {
    list: async () => {
      const tx = database.transaction(['headers', 'labels'])
      const [headers, labels] = await Promise.all([
        tx.objectStore('headers').getAll(),
        tx.objectStore('labels').getAll(),
      ])
      return { headers, labels }
    },
    write: async ({ header, chunk, items, dropped, restored_to }) => {
      const tx = database.transaction(['headers', 'chunks', 'items'], 'readwrite')
      const kept = tx.objectStore('items')
      quiet(tx.objectStore('headers').put(header))
      if (restored_to !== undefined) {
        quiet(tx.objectStore('chunks').delete(ofRun(header.id)))
        for (const kind of KEPT_KINDS) quiet(kept.delete(itemsAfter(header.id, kind, restored_to)))
      }
      if (chunk) quiet(tx.objectStore('chunks').put(chunk))
      for (const { kind, step } of dropped) quiet(kept.delete([header.id, kind, step]))
      for (const item of items) quiet(kept.put(item))
      // A page that is being closed does not wait for the last request.
      tx.commit()
      await tx.done
    },
    label: async (labels) => {
      await database.put('labels', labels)
    },
    read: async (id) => {
      const tx = database.transaction(['headers', 'chunks', 'items'])
      const [header, chunks, items] = await Promise.all([
        tx.objectStore('headers').get(id),
        tx.objectStore('chunks').getAll(ofRun(id)),
        tx.objectStore('items').getAll(ofRun(id)),
      ])
      return header === undefined ? undefined : { header, chunks, items }
    },
    chunks: (id) => database.getAll('chunks', ofRun(id)),
    remove: async (ids) => {
      const tx = database.transaction(STORES, 'readwrite')
      for (const id of ids) {
        quiet(tx.objectStore('headers').delete(id))
        quiet(tx.objectStore('labels').delete(id))
        quiet(tx.objectStore('chunks').delete(ofRun(id)))
        quiet(tx.objectStore('items').delete(ofRun(id)))
      }
      tx.commit()
      await tx.done
    },
  }
}

async function openDatabase(): Promise<RunStorage> {
  const database = await openDB<RunsSchema>(DATABASE_NAME, UPGRADES.length, {
    upgrade: (db, from) => {
      for (const upgrade of UPGRADES.slice(from)) upgrade(db)
    },
    // Another tab has a newer version of the page, which cannot open its database before this one
    // closes it.
    blocking: () => database.close(),
  })
  return storageOf(database)
}

/** How long the page waits for its database: a browser that cannot give it may never answer. */
const OPENS_WITHIN_MS = 30_000

/** Rejects where `opening` has not come to anything in time. */
async function inTime<T>(opening: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_, reject) => {
    const words = `the browser did not open its database within ${OPENS_WITHIN_MS / 1000} s; close other tabs of this page and load it again`
    timer = setTimeout(() => reject(new Error(words)), OPENS_WITHIN_MS)
  })
  try {
    return await Promise.race([opening, late])
  } finally {
    clearTimeout(timer)
  }
}

/** The browser's database; memory, and why, where it has none for this page. */
export async function openStorage(): Promise<{
  readonly storage: RunStorage
  /** Why runs are forgotten with the page; '' where they are kept. */
  readonly whyMemory: string
}> {
  try {
    return { storage: reopening(await inTime(openDatabase()), openDatabase), whyMemory: '' }
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    return { storage: memoryStorage(), whyMemory: why || 'unknown error' }
  }
}
