// Keeps files in memory: for tests, and where a browser gives a page no storage.
import type { ContentFolder } from './content_store.ts'

export function memoryFolder(): ContentFolder {
  const files = new Map<string, Uint8Array<ArrayBuffer>>()
  return {
    read: async (name) => files.get(name)?.slice(),
    write: async (name, bytes) => {
      files.set(name, bytes.slice())
    },
    list: async () => [...files].map(([name, { length }]) => ({ name, bytes: length })),
    remove: async (name) => {
      files.delete(name)
    },
  }
}
