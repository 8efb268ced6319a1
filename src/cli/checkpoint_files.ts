// Checkpoints of one run in a folder: DIR/checkpoints/step_000120.safetensors.
import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { CheckpointEntry, CheckpointFiles } from '../lab/checkpoints/checkpoint.ts'

const NAME = /^step_(\d{6,})\.safetensors$/
/** Of a file that is being written. One that is left behind was never finished. */
const UNFINISHED = '.unfinished'

/** Where the checkpoints of a run folder lie. */
export const checkpointFolder = (folder: string): string => join(folder, 'checkpoints')

/** The name of the file after `step` steps. */
export const checkpointName = (step: number): string =>
  `step_${String(step).padStart(6, '0')}.safetensors`

/**
 * The checkpoints of a run folder, which holds one run: it has the id `record`. A file gets its name when all of it is on the
 * disk, so a name stands for a whole file even where the power fails.
 */
export function folderFiles(folder: string, record: string): CheckpointFiles {
  const own = checkpointFolder(folder)
  const path = (step: number) => join(own, checkpointName(step))
  return {
    list: async (wanted) => (wanted === undefined || wanted === record ? list(own, record) : []),
    write: async (_record, step, bytes) => {
      await mkdir(own, { recursive: true })
      const unfinished = `${path(step)}${UNFINISHED}`
      await writeThrough(unfinished, bytes)
      await rename(unfinished, path(step))
      await syncFolder(own)
    },
    read: async (_record, step) => {
      const bytes = await readFile(path(step)).catch(missing)
      return bytes && new Uint8Array(bytes)
    },
    remove: async (_record, steps) => {
      for (const step of steps) await rm(path(step), { force: true })
    },
  }
}

async function list(folder: string, record: string): Promise<CheckpointEntry[]> {
  const entries: CheckpointEntry[] = []
  for (const name of (await readdir(folder).catch(missing)) ?? []) {
    const step = NAME.exec(name)?.[1]
    if (name.endsWith(UNFINISHED)) await rm(join(folder, name), { force: true })
    if (step === undefined) continue
    const { size, mtimeMs } = await stat(join(folder, name))
    entries.push({ record, step: Number(step), bytes: size, written_at: mtimeMs })
  }
  return entries.sort((a, b) => a.step - b.step)
}

/** Undefined for what is not there; any other error stays one. */
function missing(error: unknown): undefined {
  if ((error as { code?: unknown }).code !== 'ENOENT') throw error
}

async function writeThrough(path: string, bytes: Uint8Array): Promise<void> {
  const file = await open(path, 'w')
  try {
    await file.writeFile(bytes)
    await file.sync()
  } finally {
    await file.close()
  }
}

/** Puts the new name on the disk, where the system can: Windows opens no folders. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r').catch(() => undefined)
  await handle?.sync().catch(() => {})
  await handle?.close()
}
