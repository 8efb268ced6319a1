// Reads kept states of runs, and makes files of their policies: folders of models, an adapter
// merged. A run of steering vectors gives its base and the vectors.
import { MOST_NAME } from '../../../document/experiment/fields/lora_fields.ts'
import { taskOf } from '../../../document/experiment/fields/task_fields.ts'
import type { Experiment } from '../../../document/experiment/schema/schema.ts'
import { decodeCheckpoint } from '../../../host/checkpoints/file/checkpoint_file.ts'
import { vectorsOf } from '../../../host/checkpoints/merged_policy.ts'
import { checkpointBlob, listCheckpoints } from '../../../host/checkpoints/storage/browse.ts'
import { baseModel, checkpointSource, runModels } from '../../../jobs/model_folders.ts'
import { findContents } from '../../../page/contents/contents.ts'
import { keepNow, readCheckpoint } from '../../../page/runs/checkpoints.ts'
import { runOf } from '../../../page/runs/library/library_store.ts'
import { labStore } from '../../../page/state/store.ts'
import { runName } from '../../../record/run/names.ts'
import { formatCount } from '../../kit/format.ts'

/** A state of a run as a model that can be opened or learned from. */
export interface RunModel {
  readonly name: string
  readonly experiment: Experiment
  /** Those of the model that the run began with, where it trains vectors. */
  readonly files: readonly File[]
  /** Steering vectors that the run has trained, by layer, 0 to L. */
  readonly vectors: readonly Float32Array[] | undefined
}

/** A run that is a preset's is called as people chose it, and not by its method. */
export function chosenName(entry: Parameters<typeof runName>[0]): string {
  const { name, from, isAutomatic, words, seedless } = runName(entry)
  return isAutomatic && words.length === 0 ? name.replace(seedless, from) : name
}

/** '“GRPO, lr 0.0003, step 30”', with room for the step in the longest name. */
export function stateName(record: string, step: number): string {
  const entry = runOf(record)
  const behind = `, step ${formatCount(step)}`
  const run = entry ? chosenName(entry) : 'A run'
  return `${run.slice(0, MOST_NAME - behind.length)}${behind}`
}

/** A run where it is kept after `step`; without one as it is now, or was last. What its task needs
 * is here then. Rejects with a sentence for people. */
export async function runState(record: string, step?: number) {
  if (step === undefined && record === labStore.getState().record) await keepNow()
  const at = step ?? (await newestStep(record))
  const blob = at === undefined ? undefined : await checkpointBlob(record, at)
  const bytes = blob ? await blob.arrayBuffer() : (await readCheckpoint(record, at)).bytes
  const { run } = await decodeCheckpoint(new Uint8Array(bytes), 'The checkpoint')
  if (!(await findContents(run.experiment, true)))
    throw new RangeError('A file of this run is missing.')
  return run
}

/** Undefined for the run of this page, whose newest state its worker has. */
const newestStep = async (record: string): Promise<number | undefined> =>
  record === labStore.getState().record ? undefined : (await listCheckpoints(record)).at(-1)?.step

/** The policy of that state. Rejects as `runState`. */
export async function runModel(record: string, step?: number): Promise<RunModel> {
  const run = await runState(record, step)
  const { experiment } = run
  const { critic: _, reward_model: __, ...source } = checkpointSource(run)
  const task = taskOf(experiment.task)
  const { vocab_size } = source.vocabulary
  const vectors = vectorsOf({ experiment, vocab_size, adapter: source.adapter })
  const folder = vectors ? baseModel(source, task) : runModels(source, task)
  const files = folder.map(({ path, pieces }) => new File([...pieces], path))
  return { name: stateName(record, run.trainer.step), experiment, files, vectors }
}
