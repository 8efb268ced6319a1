// The weights that a run begins with, where its document names a model: from the files that the browser keeps into the trainer, piece by piece.
import type { OpenHfModel } from '../../../model/hf/hf_model.ts'
import type { RangedFolder } from '../../../model/hf/stream/ranged_file.ts'
import type { WeightSink } from '../../../model/hf/stream/weight_stream.ts'
import type { ParamLayout } from '../../../model/params/params.ts'
import { hashedFolder, modelHash } from '../../content/models/model_files.ts'
import { type ModelDisk, ModelStore } from '../../content/models/model_store.ts'
import type { ModelFields } from '../../experiment/fields/model_fields.ts'
import { ExperimentError } from '../session_host.ts'

/** What the weights go into. */
interface Target {
  readonly layout: ParamLayout
  weightSink(): WeightSink
}

/** Nothing where the document names no model. Throws ExperimentError where it is not kept here, damaged, or of other sizes. */
export async function loadStart(
  { source, source_name }: Pick<ModelFields, 'source' | 'source_name'>,
  disk: () => Promise<ModelDisk | undefined>,
  open: (folder: RangedFolder) => Promise<OpenHfModel>,
  target: Target,
): Promise<void> {
  if (source === '') return
  const own = await disk()
  const store = own && new ModelStore(own)
  const kept = (await store?.list())?.find(({ hash }) => hash === source)
  if (!store || !kept)
    throw new ExperimentError(
      `This experiment begins with ${source_name} (${source}), which is not kept in this browser. Open it with “Open a model” and keep it, then train again.`,
    )
  const hashed = hashedFolder(store.files(kept))
  const hf = await open(hashed)
  const sizes = ({ params }: ParamLayout) => JSON.stringify(params.map((p) => [p.name, p.shape]))
  if (sizes(hf.layout) !== sizes(target.layout))
    throw new ExperimentError(
      `${source_name} has other sizes than the settings under Model say. Press “Train from it” once more to take its own.`,
    )
  await hf.load(target.weightSink())
  const names = new Set(kept.files.map(({ name }) => name))
  for (const name of names) await hashed.open(name)
  const found = modelHash(await hashed.files())
  if (found !== source)
    throw new ExperimentError(
      `The kept files of ${source_name} are damaged: expected ${source}, found ${found}. Forget them and open the model again.`,
    )
}
