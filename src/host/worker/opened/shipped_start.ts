// Loads the shipped model that a run begins with, where the browser does not keep it: from the
// page's own host into memory, checked by its hashes.
import { bytesFile } from '../../../formats/ranged_file.ts'
import { memoryDisk } from '../../content/models/memory_disk.ts'
import { type ModelDisk, ModelStore } from '../../content/models/model_store.ts'
import { shippedModel } from '../../content/models/shipped.ts'
import { ExperimentError } from '../base/session_host.ts'

/** Gets a file of the page's host by its path, e.g. models/arithmetic/config.json. Throws where
 * nothing comes. */
type OwnFile = (path: string, onBytes: (bytes: number) => void) => Promise<Uint8Array<ArrayBuffer>>

/** Files below an address. */
export const ownFiles =
  (base: URL): OwnFile =>
  async (path, onBytes) => {
    const { ok, status, body } = await fetch(new URL(path, base))
    if (!ok || !body) throw new Error(`${path}: the host answered ${status}`)
    const pieces: Uint8Array<ArrayBuffer>[] = []
    let bytes = 0
    for (let reader = body.getReader(); ; ) {
      const { value } = await reader.read()
      if (!value) break
      pieces.push(value)
      bytes += value.length
      onBytes(bytes)
    }
    return new Uint8Array(await new Blob(pieces).arrayBuffer())
  }

/** Where the model with the hash `source` lies: the browser's storage, or memory for a shipped
 * model that is not kept there. Throws ExperimentError where the host does not have it as it was
 * shipped. */
export async function diskOfStart(
  source: string,
  openDisk: () => Promise<ModelDisk | undefined>,
  ownFile: OwnFile,
  onProgress: (message: string) => void,
): Promise<ModelDisk | undefined> {
  const model = shippedModel(source)
  const own = await openDisk()
  if (!model) return own
  if (own && (await new ModelStore(own).list()).some(({ hash }) => hash === source)) return own
  const { name, files } = model
  const { disk } = memoryDisk()
  const total = files.reduce((sum, { bytes }) => sum + bytes, 0)
  let done = 0
  try {
    const fetched = new Map<string, Uint8Array<ArrayBuffer>>()
    for (const file of files) {
      const bytes = await ownFile(`models/${name}/${file.name}`, (here) =>
        onProgress(`Fetching the model ${name}: ${kib(done + here)} of ${kib(total)} KiB`),
      )
      if (bytes.length !== file.bytes)
        throw new Error(`${file.name}: expected ${file.bytes} bytes, found ${bytes.length}`)
      fetched.set(file.name, bytes)
      done += bytes.length
    }
    await new ModelStore(disk).keep({ name, source: '', files }, (file) =>
      bytesFile(file.name, fetched.get(file.name) ?? new Uint8Array()),
    )
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new ExperimentError(
      `The model ${name} of this site could not be loaded (${why}). Reload the page; if that does not help, its host lacks files of models/${name}.`,
    )
  }
  return disk
}

const kib = (bytes: number): number => Math.ceil(bytes / 1024)
