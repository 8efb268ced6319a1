// Keeps models in memory: what a run begins with for a moment, and what tests keep.
import { bytesFile } from '../../../formats/ranged_file.ts'
import type { ModelDisk } from './model_store.ts'

/** A disk in memory with room for `room` bytes. */
export function memoryDisk(room?: number) {
  const folders = new Map<string, Map<string, Uint8Array<ArrayBuffer>>>()
  const disk: ModelDisk = {
    folders: async () => [...folders.keys()],
    open: async (folder, name) => {
      const bytes = folders.get(folder)?.get(name)
      return bytes && bytesFile(name, bytes)
    },
    grow: async (folder, name) => {
      const own = folders.get(folder) ?? new Map<string, Uint8Array<ArrayBuffer>>()
      folders.set(folder, own)
      const now = () => own.get(name) ?? new Uint8Array()
      own.set(name, now())
      return {
        size: () => now().length,
        read: (begin, end) => now().slice(begin, end),
        append: (bytes) => {
          const more = new Uint8Array(now().length + bytes.length)
          more.set(now())
          more.set(bytes, now().length)
          own.set(name, more)
        },
        empty: () => own.set(name, new Uint8Array()),
        close: () => {},
      }
    },
    remove: async (folder) => {
      folders.delete(folder)
    },
    room: async () => room,
  }
  return { disk, folders }
}
