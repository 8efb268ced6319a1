// Fetches and opens models that come with the lab, as if a person had dropped their folder.
import { modelHash } from '../../host/content/models/model_files.ts'
import { type ShippedModel, shippedModel } from '../../host/content/models/shipped.ts'
import { isBusy } from '../../record/run/run_parts.ts'
import { labStore } from '../state/store.ts'
import { openedModelStore, openModel } from './opened_model.ts'

/** From the page's own host. Throws Error where one of them does not come. */
export const shippedFiles = ({ name, files }: ShippedModel): Promise<File[]> =>
  Promise.all(
    files.map(async (file) => {
      const address = `models/${name}/${file.name}`
      const answer = await fetch(address)
      const content = await answer.blob()
      // Some hosts answer with a page of theirs in place of what is missing.
      if (!answer.ok || content.size !== file.bytes)
        throw new Error(
          `The model ${name} of this site could not be loaded: ${address}: expected ${file.bytes} bytes, found ${content.size} (the host answered ${answer.status}). Reload the page; if that does not help, its host lacks files.`,
        )
      return new File([content], file.name)
    }),
  )

/** What openShipped was asked for last. */
let asked: { readonly name: string; readonly done: Promise<void> } | undefined

/** Opens the model in the first place, unless it is there or on its way. Throws Error where a file
 * does not come. */
export function openShipped(model: ShippedModel): Promise<void> {
  const { name, problem, isBusy: isTaken, facts } = openedModelStore.getState()
  const isThere = facts.first?.hash === modelHash(model.files)
  const isComing = name === model.name && isTaken && problem === undefined
  if (isThere || (isComing && !facts.first)) return Promise.resolve()
  if (asked?.name === model.name) return asked.done
  const opening = async () => {
    try {
      openModel(model.name, await shippedFiles(model))
    } finally {
      asked = undefined
    }
  }
  asked = { name: model.name, done: opening() }
  return asked.done
}

/** Opens the model that the chosen experiment begins with, where it comes with the page, before
 * somebody asks to write with it: on a software adapter its kernels take seconds to compile. Not in
 * the place of another model, nor beside a run that trains. */
export function prepareShipped(): void {
  const state = labStore.getState()
  const { source } = state.experiment.model
  const model = source === null ? undefined : shippedModel(source)
  const { facts, isBusy: isTaken } = openedModelStore.getState()
  if (!model || !state.adapter || isBusy(state) || isTaken || facts.first) return
  // What fails here fails again, and is said, where the model is asked for.
  openShipped(model).catch(() => {})
}
