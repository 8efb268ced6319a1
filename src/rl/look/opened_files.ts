// Opens the files of a model that a person opened, with an adapter merged into it.

import type { RangedFolder } from '../../formats/ranged_file.ts'
import { type FileSource, type OpenHfModel, openHfModel } from '../../model/hf/hf_model.ts'
import { openWithAdapter } from '../../model/hf/peft_adapter.ts'

/** Checks the files of a model and, where there is one, of an adapter that is merged into it while
 * it is loaded. */
export async function openFiles(
  folder: RangedFolder,
  adapter: FileSource | undefined,
): Promise<OpenHfModel> {
  const hf = await openHfModel(folder, { head: 'lm_head' })
  return adapter ? openWithAdapter(hf, adapter) : hf
}
