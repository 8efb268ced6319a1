// Keeps files that a person brings in the browser's storage for experiments that name them.

import { type ContentFile, contentHash, tooLarge } from '../../document/content/content.ts'
import type { Bundle } from '../../host/content/bundle.ts'
import { extensionOf } from '../../tasks/data/table/data_file.ts'
import { labPage } from '../connection/connection.ts'
import { nextExperiment } from '../state/next_experiment.ts'
import { labStore } from '../state/store.ts'
import { findContents } from './contents.ts'
import { DataWork } from './data_work.ts'
import { contentsStore, here } from './here.ts'

/** Unpacks a bundle beside the page. Rejects with what is wrong with it. */
export async function unpackBundle(file: File): Promise<Bundle> {
  const why = tooLarge(file.size)
  if (why !== undefined) throw new RangeError(`${file.name}: ${why}`)
  const open = labPage().dataPort
  if (!open) throw new Error('this page has no workers')
  const work = new DataWork(open)
  try {
    return await work.unpack({ name: file.name, hash: '', blob: file })
  } finally {
    work.end()
  }
}

/** Keeps a file for experiments that name it. It is in memory also where the browser has no room
 * for it. */
export async function keepContent(file: ContentFile): Promise<void> {
  here.set(file.hash, file)
  const store = await labPage().contents?.()
  await store?.put(file.bytes, file.name).catch(() => {})
}

/** Takes a file while some are missing. False where it is none of them and of another kind, so that
 * it may be meant otherwise. One of the same kind with another hash is refused: the store says both
 * hashes, and nothing is changed. */
export async function bringContent(name: string, bytes: Uint8Array<ArrayBuffer>): Promise<boolean> {
  const { missing } = contentsStore.getState()
  const hash = await contentHash(bytes)
  const named = missing.find((file) => file.hash === hash)
  if (named) {
    await keepContent({ hash, name: named.name, bytes })
    await findContents(nextExperiment(labStore.getState()))
    return true
  }
  if (!missing.some((file) => extensionOf(file.name) === extensionOf(name))) return false
  const wanted = missing.map((file) => `${file.name}, which is ${file.hash}`).join(', and ')
  const problem = `${name} is ${hash}. This experiment uses ${wanted}. Nothing was changed.`
  contentsStore.setState({ problem })
  return true
}

/** The same for a file of the browser's; one that is too large or cannot be read is none of
 * them. */
export async function bringFile(file: File): Promise<boolean> {
  if (tooLarge(file.size)) return false
  try {
    return await bringContent(file.name, new Uint8Array(await file.arrayBuffer()))
  } catch {
    return false
  }
}
