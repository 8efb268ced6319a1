// Finds the models that come with the lab: public/models/<name>, on the host of the page and in a
// clone. Their lists of files are in shipped.json, which `npm run pretrain` writes.
import type { ContentFile } from '../../../document/content/content.ts'
import { type ModelFile, modelHash, modelList } from './model_files.ts'
import shipped from './shipped.json' with { type: 'json' }

export type ShippedName = keyof typeof shipped

/** A model of the lab's own: the name of its folder, and its files. */
export interface ShippedModel {
  readonly name: ShippedName
  readonly files: readonly ModelFile[]
}

export const SHIPPED: readonly ShippedModel[] = Object.entries(shipped).map(([name, files]) => ({
  name: name as ShippedName,
  files,
}))

export const shippedNamed = (name: ShippedName): ShippedModel => ({ name, files: shipped[name] })

/** The shipped model of that hash; undefined for any other. */
export const shippedModel = (hash: string): ShippedModel | undefined =>
  SHIPPED.find(({ files }) => modelHash(files) === hash)

/** The list that the hash is of, which an experiment names; undefined for a model that is not
 * shipped. */
export function shippedList(hash: string): ContentFile | undefined {
  const model = shippedModel(hash)
  if (!model) return undefined
  return { hash, name: model.name, bytes: new TextEncoder().encode(modelList(model.files)) }
}
