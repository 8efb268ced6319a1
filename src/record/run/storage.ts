// Stores records behind a small interface: in the browser's database, or in memory.
import type { KeptKind } from './kept_run.ts'
import type { RunHeader, RunLabels, StoredChunk, StoredItem } from './record.ts'

/** One addition to a record: all of it is kept, or nothing. */
export interface RunWrite {
  readonly header: RunHeader
  readonly chunk: StoredChunk | undefined
  readonly items: readonly StoredItem[]
  /** Steps whose items are removed. */
  readonly dropped: readonly { readonly kind: KeptKind; readonly step: number }[]
  /** All rows are written again, and items of steps after this one are removed: the run went back
   * to it, or it is the newest and the rows were thinned. */
  readonly restored_to?: number | undefined
}

/** What was read back: nothing of it is known to be sound. */
export interface StoredRun {
  readonly header: unknown
  readonly chunks: readonly unknown[]
  readonly items: readonly unknown[]
}

export interface RunStorage {
  /** Headers and labels of all runs. */
  list(): Promise<{ readonly headers: readonly unknown[]; readonly labels: readonly unknown[] }>
  write(write: RunWrite): Promise<void>
  label(labels: RunLabels): Promise<void>
  /** Undefined where there is no such run. */
  read(id: string): Promise<StoredRun | undefined>
  /** Its columns alone; none where there is no such run. */
  chunks(id: string): Promise<readonly unknown[]>
  remove(ids: readonly string[]): Promise<void>
}

/** Lasts as long as the page. Copies what it is given, as a database does. */
export function memoryStorage(): RunStorage {
  const headers = new Map<string, RunHeader>()
  const labels = new Map<string, RunLabels>()
  const chunks = new Map<string, Map<number, StoredChunk>>()
  const items = new Map<string, Map<string, StoredItem>>()
  const partsOf = (id: string) =>
    [...(chunks.get(id)?.values() ?? [])].sort((a, b) => a.part - b.part)
  return {
    list: async () => ({ headers: [...headers.values()], labels: [...labels.values()] }),
    write: async (write) => {
      const { header, chunk, items: added, dropped, restored_to } = structuredClone(write)
      const { id } = header
      headers.set(id, header)
      const before = restored_to === undefined ? chunks.get(id) : undefined
      const parts = before ?? new Map<number, StoredChunk>()
      if (chunk) parts.set(chunk.part, chunk)
      chunks.set(id, parts)
      const kept = items.get(id) ?? new Map<string, StoredItem>()
      if (restored_to !== undefined)
        for (const [key, { step }] of kept) if (step > restored_to) kept.delete(key)
      for (const { kind, step } of dropped) kept.delete(`${kind} ${step}`)
      for (const item of added) kept.set(`${item.kind} ${item.step}`, item)
      items.set(id, kept)
    },
    label: async (label) => {
      labels.set(label.id, structuredClone(label))
    },
    chunks: async (id) => structuredClone(partsOf(id)),
    read: async (id) => {
      const header = headers.get(id)
      if (!header) return undefined
      const parts = partsOf(id)
      const kept = [...(items.get(id)?.values() ?? [])].sort((a, b) => a.step - b.step)
      return structuredClone({ header, chunks: parts, items: kept })
    },
    remove: async (ids) => {
      for (const id of ids) for (const map of [headers, labels, chunks, items]) map.delete(id)
    },
  }
}

/** What was read back, columns as lists. */
export const storedJson = (stored: StoredRun | undefined): string | undefined =>
  stored &&
  JSON.stringify(stored, (_, value) =>
    value instanceof Float64Array || value instanceof Float32Array ? [...value] : value,
  )

/** Whether the browser has closed the storage: nothing of what it held may be left. */
export const isClosed = (error: unknown): boolean =>
  error instanceof Error && error.name === 'InvalidStateError'

/** What a failed write means, and what to do about it. */
export function storageProblem(error: unknown): string {
  const name = error instanceof Error || error instanceof DOMException ? error.name : ''
  if (name === 'QuotaExceededError')
    return 'The browser’s storage for this page is full. The run continues, but its record does not grow. Delete runs that you no longer need.'
  const message = error instanceof Error ? error.message : String(error)
  return `The run could not be kept: ${message || name || 'unknown error'}. The run continues.`
}
