// Loads the weights that a run begins with, where its document names a model or an adapter: from
// the files that the browser keeps into the trainer.

import type { ModelFields } from '../../../document/experiment/fields/model_fields.ts'
import type { RangedFolder } from '../../../formats/ranged_file.ts'
import type { WeightSink } from '../../../formats/weight_stream.ts'
import type { FileSource, OpenHfModel } from '../../../model/hf/hf_model.ts'
import type { PeftAdapter } from '../../../model/hf/peft_adapter.ts'
import { ADAPTER_CONFIG, ADAPTER_WEIGHTS } from '../../../model/hf/peft_config.ts'
import { adapterLayout, packAdapter } from '../../../model/layout/adapter_layout.ts'
import type { ParamLayout } from '../../../model/layout/params.ts'
import { knownFile } from '../../../rl/config/begun_files.ts'
import { hashedFolder, modelHash } from '../../content/models/model_files.ts'
import { type ModelDisk, ModelStore } from '../../content/models/model_store.ts'
import { ExperimentError } from '../base/session_host.ts'

/** What weights go into. */
interface WeightTarget {
  readonly layout: ParamLayout
  weightSink(): WeightSink
}

interface Target extends WeightTarget {
  importAdapter(flat: Float32Array): void
  /** Another model that teaches. */
  readonly teacher?: WeightTarget | undefined
}

/** What the GPU side does with the files. */
interface Readers {
  readonly model: (folder: RangedFolder) => Promise<OpenHfModel>
  readonly adapter: (source: FileSource, layout: ParamLayout) => Promise<PeftAdapter>
}

/** Where the files of a hash lie. */
type Disk = (source: string) => Promise<ModelDisk | undefined>
/** What a document says of a start. */
interface Named {
  readonly source: string | null
  readonly source_name: string | null
}

type StartFields = Pick<ModelFields, 'source' | 'source_name' | 'lora'>

/** Nothing where the document names no model. Throws ExperimentError where one is not kept here,
 * damaged, or of other sizes. */
export async function loadStart(
  { model, teacher }: { readonly model: StartFields; readonly teacher: Named },
  disk: Disk,
  readers: Readers,
  target: Target,
): Promise<void> {
  const load = (named: Named, into: WeightTarget, under: string, press: string) =>
    withKept(named, disk, async (folder) => {
      const hf = await readers.model(folder)
      const sizes = ({ params }: ParamLayout) =>
        JSON.stringify(params.map((p) => [p.name, p.shape]))
      if (sizes(hf.layout) !== sizes(into.layout))
        throw new ExperimentError(
          `${named.source_name} has other sizes than the settings under ${under} say. Open it and press “${press}” to take its own.`,
        )
      await hf.load(into.weightSink())
    })
  const { lora } = model
  await load(model, target, 'Model', 'Train from it')
  if (target.teacher) await load(teacher, target.teacher, 'Teacher', 'Use it as a teacher')
  if (lora.r === 0) return
  await withKept(lora, disk, async (folder) => {
    const { shape } = target.layout
    const own = await readers.adapter(smallFiles(folder), target.layout)
    const wanted = shape.lora && adapterLayout(shape, shape.lora)
    const given = adapterLayout(shape, own.lora)
    const names = ({ params }: typeof given) => JSON.stringify(params.map((p) => [p.name, p.shape]))
    if (!wanted || names(wanted) !== names(given) || wanted.scale !== given.scale)
      throw new ExperimentError(
        `The adapter ${lora.source_name} has another rank, alpha or other modules than the settings under Model say. Press “Train from it” once more to take its own.`,
      )
    target.importAdapter(packAdapter(given, own.factors))
  })
}

/** What the GPU side does with a file of vectors, once the weights are there. */
type BeginVectors = (file: {
  readonly bytes: Uint8Array
  readonly name: string
  readonly strength: number
}) => Promise<void>

/** The steering vectors that the document begins with. Throws ExperimentError where their file is
 * not here, or is of another model. */
export async function startVectors(
  { model }: { readonly model: Pick<ModelFields, 'steering_vectors'> },
  begin: BeginVectors,
): Promise<void> {
  const { trainable, source, source_name, strength } = model.steering_vectors
  if (!trainable || source === null) return
  const file = knownFile(source)
  const name = source_name ?? source
  if (!file) throw new ExperimentError(`${name} (${source}) is not here; give the file again`)
  await checkedStart(() => begin({ bytes: file.bytes, name, strength }))
}

/** What is wrong with a file that a run begins with is wrong with its experiment. */
export async function checkedStart(check: () => Promise<void>): Promise<void> {
  try {
    await check()
  } catch (error) {
    throw new ExperimentError(error instanceof Error ? error.message : String(error))
  }
}

/** An adapter is small: its files are read whole. */
const smallFiles = (folder: RangedFolder): FileSource => ({
  read: async (name) => {
    if (name !== ADAPTER_CONFIG && name !== ADAPTER_WEIGHTS) return undefined
    const file = await folder.open(name)
    return file?.read(0, file.size)
  },
})

/** Hands over the kept files of a hash, and checks afterwards that they are those. */
async function withKept(
  { source, source_name }: Named,
  disk: Disk,
  use: (folder: RangedFolder) => Promise<void>,
): Promise<void> {
  if (source === null) return
  const own = await disk(source)
  const store = own && new ModelStore(own)
  const kept = (await store?.list())?.find(({ hash }) => hash === source)
  if (!store || !kept)
    throw new ExperimentError(
      `This experiment needs ${source_name} (${source}), which is not kept in this browser. Open it with “Open a model” and keep it, then train again.`,
    )
  const hashed = hashedFolder(store.files(kept))
  await use(hashed)
  for (const { name } of kept.files) await hashed.open(name)
  const found = modelHash(await hashed.files())
  if (found !== source)
    throw new ExperimentError(
      `The kept files of ${source_name} are damaged: expected ${source}, found ${found}. Forget them and open the model again.`,
    )
}
