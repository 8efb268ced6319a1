// Writes files straight into a folder that the person picks, where the browser can (Chrome and
// Edge).
import type { Job } from '../../../jobs/job_spec.ts'

declare global {
  interface Window {
    /** File System Access API; not in every browser. */
    showDirectoryPicker?(options: {
      readonly mode: 'readwrite'
    }): Promise<FileSystemDirectoryHandle>
  }
}

export const canPickFolder = (): boolean => typeof window.showDirectoryPicker === 'function'

/** Asks for a folder; undefined where the person changed their mind. */
export async function pickFolder(): Promise<FileSystemDirectoryHandle | undefined> {
  try {
    return await window.showDirectoryPicker?.({ mode: 'readwrite' })
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') return undefined
    throw error
  }
}

/** Writes into a new folder inside `parent`, and nothing that is there is touched. Its name:
 * `name`, or with a number behind it. */
export async function writeInto(
  parent: FileSystemDirectoryHandle,
  name: string,
  files: Job['files'],
): Promise<string> {
  const taken = new Set<string>()
  for await (const key of parent.keys()) taken.add(key)
  let own = name
  for (let i = 2; taken.has(own); i++) own = `${name}-${i}`
  const root = await parent.getDirectoryHandle(own, { create: true })
  for (const { path, pieces } of files) {
    const names = path.split('/')
    const file = names.pop() ?? path
    let folder = root
    for (const step of names) folder = await folder.getDirectoryHandle(step, { create: true })
    const handle = await folder.getFileHandle(file, { create: true })
    const stream = await handle.createWritable()
    for (const piece of pieces) await stream.write(piece)
    await stream.close()
  }
  return own
}
