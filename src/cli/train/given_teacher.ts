// Opens another model that teaches: --teacher, or the one that the experiment names where it comes
// with the lab.
import { existsSync, readdirSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { parseExperiment } from '../../document/experiment/experiment.ts'
import { taskOf } from '../../document/experiment/fields/task_fields.ts'
import type { TeacherFields } from '../../document/experiment/fields/teacher_fields.ts'
import type { Experiment } from '../../document/experiment/schema/schema.ts'
import { ModelFileError, parseJsonObject } from '../../formats/errors.ts'
import { CheckpointError } from '../../host/checkpoints/file/checkpoint_error.ts'
import { hashedFolder, modelHash, namesOfModel } from '../../host/content/models/model_files.ts'
import { parseHfConfig } from '../../model/hf/hf_config.ts'
import { LabFailure } from '../base/command.ts'
import { readGivenModel } from '../input/given_model.ts'
import { modelDirectory, modelRanges } from '../input/model_dir.ts'
import { shippedFolder } from '../input/model_start.ts'
import { isOfRun, readCheckpointModel } from './resume.ts'

/** An experiment with the sizes of its teacher, and the teacher's weights in its own layout. */
export interface Taught {
  readonly experiment: Experiment
  readonly weights: Float32Array
}

/** Undefined where the experiment has no teacher of that kind. `path`: a Hugging Face folder, the
 * folder of a run, or a checkpoint, in place of the one that is named. `requireRoom` throws for an
 * experiment that is larger than memory: a folder's sizes are known before its weights are read.
 * Throws LabFailure for one that is not there, or that cannot teach this model. */
export async function readGivenTeacher(
  experiment: Experiment,
  path: string | undefined,
  requireRoom: (experiment: Experiment) => void = () => {},
): Promise<Taught | undefined> {
  const { source, source_name } = experiment.teacher
  const wanted = path ?? (source === null ? undefined : await shippedFolder(source))
  if (wanted === undefined && source === null) return undefined
  if (wanted === undefined)
    throw new LabFailure(
      `this experiment learns from ${source_name ?? source}, which does not come with the lab: give it with --teacher PATH`,
    )
  if (!existsSync(wanted)) throw new LabFailure(`--teacher: ${wanted}: no such file or folder`)
  const { fields, weights } = await readTeacher(wanted, experiment, requireRoom).catch(ofOption)
  const named = { source_name: basename(wanted), ...fields }
  return { experiment: withTeacher(experiment, named), weights }
}

/** Of a model folder, the folder of a run or a checkpoint. */
async function readTeacher(
  path: string,
  experiment: Experiment,
  requireRoom: (experiment: Experiment) => void,
): Promise<Read> {
  const isFolder = statSync(path).isDirectory()
  if (!isFolder && path.endsWith('.safetensors')) return ofRun(path, experiment)
  if (!isFolder)
    throw new LabFailure(
      `--teacher: ${path}: expected the folder of a model or of a run, or a checkpoint of one (.safetensors), found another file`,
    )
  if (existsSync(join(path, 'config.json'))) {
    await requireRoomFor(path, experiment, requireRoom)
    return ofFolder(path, experiment)
  }
  if (isOfRun(path)) return ofRun(path, experiment)
  throw new LabFailure(
    `--teacher: ${path}: expected a model (config.json) or the folder of a run (its checkpoints), found neither`,
  )
}

/** What is wrong with a file is said of the option that gave it. */
function ofOption(error: unknown): never {
  if (error instanceof ModelFileError || error instanceof CheckpointError)
    throw new LabFailure(`--teacher: ${error.message}`)
  throw error
}

/** With the sizes that a folder tells, before its weights are read; its tokens are read with
 * them. */
async function requireRoomFor(
  folder: string,
  experiment: Experiment,
  requireRoom: (experiment: Experiment) => void,
): Promise<void> {
  const name = 'config.json'
  const bytes = (await modelDirectory(folder).read(name)) ?? new Uint8Array()
  const file = join(folder, name)
  const { config } = parseHfConfig(parseJsonObject(bytes, file), file)
  const { padding_idx: _, rope_scaling: __, dtype: ___, lora: ____, ...rest } = config
  const { steering_vectors: _____, ...sizes } = rest
  const { vocab_size } = experiment.model
  const source = `sha256-${'0'.repeat(64)}`
  requireRoom(withTeacher(experiment, { ...sizes, vocab_size, source }))
}

/** Throws LabFailure for a teacher that the lab cannot hold. */
function withTeacher(experiment: Experiment, fields: Partial<TeacherFields>): Experiment {
  const teacher = { ...experiment.teacher, ...fields }
  const parsed = parseExperiment({ ...experiment, teacher })
  if (parsed.ok) return parsed.experiment
  const [issue] = parsed.issues
  throw new LabFailure(`--teacher: ${issue.path}: ${issue.message}`)
}

interface Read {
  readonly fields: Partial<TeacherFields>
  readonly weights: Float32Array
}

async function ofFolder(folder: string, { task }: Experiment): Promise<Read> {
  const { tokenizer } = taskOf(task)
  const { model, weights } = await readGivenModel(folder, tokenizer, '--teacher')
  const { padding_idx: _, ...sizes } = model
  const hashed = hashedFolder(modelRanges(folder))
  for (const name of namesOfModel(readdirSync(folder))) await hashed.open(name)
  return { fields: { ...sizes, source: modelHash(await hashed.files()) }, weights }
}

async function ofRun(path: string, experiment: Experiment): Promise<Read> {
  const { sizes, weights } = await readCheckpointModel(path, experiment, '--teacher')
  return { fields: sizes, weights }
}
