// Keeps checkpoints in memory: for tests, and where a browser keeps no files.
import type { CheckpointFiles } from '../file/checkpoint.ts'

interface Held {
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly written_at: number
}

/** Makes an empty store; `nowMs` is a clock, milliseconds since 1970. What it holds are copies. */
export function memoryFiles(nowMs: () => number = Date.now): CheckpointFiles {
  const records = new Map<string, Map<number, Held>>()
  return {
    list: async (record) =>
      [...records]
        .filter(([own]) => record === undefined || own === record)
        .flatMap(([own, held]) =>
          [...held].map(([step, { bytes, written_at }]) => ({
            record: own,
            step,
            bytes: bytes.length,
            written_at,
          })),
        )
        .sort((a, b) => a.step - b.step),
    write: async (record, step, bytes) => {
      const held = records.get(record) ?? new Map<number, Held>()
      held.set(step, { bytes: bytes.slice(), written_at: nowMs() })
      records.set(record, held)
    },
    read: async (record, step) => records.get(record)?.get(step)?.bytes.slice(),
    remove: async (record, steps) => {
      for (const step of steps) records.get(record)?.delete(step)
    },
  }
}
