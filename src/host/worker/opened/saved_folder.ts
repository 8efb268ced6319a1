// Writes a model as a folder that transformers loads: its weights as they come from its files, with
// whatever is merged into them, in float32; everything else as it is.

import { parseJsonObject } from '../../../formats/errors.ts'
import { jsonFile } from '../../../formats/out_file.ts'
import type { RangedFile, RangedFolder } from '../../../formats/ranged_file.ts'
import { safetensorsHead } from '../../../formats/safetensors_write.ts'
import type { LoadOptions } from '../../../formats/weight_stream.ts'
import type { OpenHfModel } from '../../../model/hf/hf_model.ts'
import { TOKENIZER_FILES } from '../../../tasks/tokenizers/hugging_face/tokenizer_files.ts'
import { CONFIG_FILE } from '../../content/models/model_files.ts'
import type { SavedFile } from '../../protocol/opened_model.ts'

/** One piece of the weights is in memory at a time; what is behind it lies in blobs, which a
 * browser may put on its disk. */
export async function savedFolder(
  hf: OpenHfModel,
  folder: RangedFolder,
  options: LoadOptions = {},
): Promise<SavedFile[]> {
  const files: SavedFile[] = []
  for (const name of [CONFIG_FILE, ...TOKENIZER_FILES]) {
    const file = await folder.open(name)
    if (file) files.push({ path: name, blob: await smallFile(file) })
  }
  const pieces = new Map<string, Blob[]>(hf.layout.params.map(({ name }) => [name, []]))
  await hf.load(
    { write: (param, _, values) => void pieces.get(param)?.push(new Blob([values])) },
    options,
  )
  const { head, names } = safetensorsHead(hf.layout.params)
  const blob = new Blob([head, ...names.flatMap((name) => pieces.get(name) ?? [])])
  return [...files, { path: 'model.safetensors', blob }]
}

/** config.json says in what the weights are stored. */
async function smallFile(file: RangedFile): Promise<Blob> {
  const bytes = await file.read(0, file.size)
  if (file.name !== CONFIG_FILE) return new Blob([bytes])
  const { torch_dtype: _, ...config } = parseJsonObject(bytes, file.name)
  const { pieces } = jsonFile(CONFIG_FILE, { ...config, dtype: 'float32' })
  return new Blob([...pieces])
}
