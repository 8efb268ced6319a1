// Reads the weights that settings begin with from the files of the models that they name.
import { modelConfig } from '../document/experiment/fields/model_fields.ts'
import { teacherConfig } from '../document/experiment/fields/teacher_fields.ts'
import { readHfModel } from '../model/hf/hf_model.ts'
import { bareConfig, type ModelConfig, modelShape } from '../model/layout/config.ts'
import { type ParamLayout, paramLayout } from '../model/layout/params.ts'
import type { ModelSource } from './model_folders.ts'
import { JobError } from './settings/job_error.ts'

/** The files of the model that is named, and of the teacher; undefined where they are not here. */
interface Files {
  readonly model: readonly File[] | undefined
  readonly teacher: readonly File[] | undefined
}

/** The settings with the weights of the files. Throws JobError where the settings were changed to
 * other sizes. */
export async function withFirstWeights(source: ModelSource, files: Files): Promise<ModelSource> {
  const { experiment, vocabulary } = source
  const { model, teacher } = experiment
  const read = async (own: readonly File[] | undefined, name: string | null, config: ModelConfig) =>
    own && weightsOf(own, `${name}`, paramLayout(modelShape(bareConfig(config))))
  const sizes = teacherConfig(teacher, vocabulary.vocab_size)
  return {
    ...source,
    policy: await read(files.model, model.source_name, modelConfig(model, vocabulary.vocab_size)),
    teacher: sizes && (await read(files.teacher, teacher.source_name, sizes)),
  }
}

async function weightsOf(files: readonly File[], name: string, wanted: ParamLayout) {
  const read = async (path: string) => {
    const file = files.find((one) => one.name === path)
    return file && new Uint8Array(await file.arrayBuffer())
  }
  const { layout, weights } = await readHfModel({ read }, { head: 'lm_head' })
  const shapes = ({ params }: ParamLayout) => JSON.stringify(params.map((p) => [p.name, p.shape]))
  if (shapes(layout) !== shapes(wanted))
    throw new JobError(`${name} has other sizes than these settings say: set them back to its own.`)
  return weights
}
