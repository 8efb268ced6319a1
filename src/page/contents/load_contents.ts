// Reads the files of an experiment from the browser's storage. Loaded with the first experiment
// that names one.
import type { ContentFile, NamedContent } from '../../document/content/content.ts'
import type { Experiment } from '../../document/experiment/schema/schema.ts'
import { loadContents } from '../../host/content/load.ts'
import { shippedList, shippedModel } from '../../host/content/models/shipped.ts'
import type { Prepare } from '../../tasks/data/load_data.ts'
import { labPage } from '../connection/connection.ts'
import { DataWork, sourceOf } from './data_work.ts'
import { contentsOf, here } from './here.ts'

/** A file of the browser's storage, or the list of a shipped model's files. */
export async function readContent(hash: string): Promise<ContentFile | undefined> {
  const store = await labPage().contents?.()
  return (await store?.read(hash)) ?? shippedList(hash)
}

/** Reads what is not in memory yet; returns what is in no storage either. Of `models`, which are
 * named by the lists of their files, the files have to be there too. */
export async function readAll(
  names: readonly NamedContent[],
  models: readonly string[],
): Promise<NamedContent[]> {
  const kept = models.length > 0 ? await labPage().models?.() : undefined
  const isGone = (hash: string) =>
    models.includes(hash) && kept?.has(hash) === false && !shippedModel(hash)
  const missing: NamedContent[] = []
  for (const named of names) {
    if (isGone(named.hash)) {
      here.delete(named.hash)
      missing.push(named)
      continue
    }
    if (here.has(named.hash)) continue
    const file = await readContent(named.hash)
    if (file) here.set(named.hash, file)
    else missing.push(named)
  }
  return missing
}

/** Makes the files of an experiment known to the page's own tasks. */
export async function loadAll(experiment: Experiment): Promise<void> {
  const files = contentsOf(experiment) ?? []
  const open = labPage().dataPort
  const work = open && new DataWork(open)
  const source = (file: { readonly name: string; readonly bytes: Uint8Array<ArrayBuffer> }) =>
    sourceOf({ hash: files.find(({ bytes }) => bytes === file.bytes)?.hash ?? '', ...file })
  const prepare: Prepare | undefined =
    work &&
    ((train, val, plan, { file }) =>
      work.prepare({
        train: source(train),
        val: val && source(val),
        plan,
        tokenizer: file && source(file),
      }))
  try {
    await loadContents(experiment, files, prepare)
  } finally {
    work?.end()
  }
}
