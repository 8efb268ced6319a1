// The files of a model that a person opened, with an adapter merged into it.
import {
  type FileSource,
  flatSink,
  type OpenHfModel,
  openHfModel,
} from '../../model/hf/hf_model.ts'
import { withAdapter } from '../../model/hf/peft_adapter.ts'
import type { RangedFolder } from '../../model/hf/stream/ranged_file.ts'

/** Checks the files of a model and, where there is one, merges an adapter into it while it is loaded: that takes the memory of both. */
export async function openFiles(
  folder: RangedFolder,
  adapter: FileSource | undefined,
): Promise<OpenHfModel> {
  const hf = await openHfModel(folder, { head: 'lm_head' })
  if (!adapter) return hf
  return {
    ...hf,
    // What is merged is no bfloat16 any more.
    exact_dtype: 'float32',
    load: async (sink, options) => {
      const base = new Float32Array(hf.layout.size)
      await hf.load(flatSink(hf.layout, base), options)
      const { weights } = await withAdapter({ ...hf, weights: base }, adapter)
      for (const { name, offset, size } of hf.layout.params)
        await sink.write(name, 0, weights.subarray(offset, offset + size))
    },
  }
}
