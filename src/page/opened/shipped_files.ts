// Fetches the files of a model that comes with the lab, as if a person had dropped its folder.
import type { ShippedModel } from '../../host/content/models/shipped.ts'

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
