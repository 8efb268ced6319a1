// Lists the models that a run can learn from: kept states of runs, models that are kept in this
// browser, and those that come with the page.
import { MOST_NAME } from '../../../document/experiment/fields/lora_fields.ts'
import { taskOf } from '../../../document/experiment/fields/task_fields.ts'
import { decodeCheckpoint } from '../../../host/checkpoints/file/checkpoint_file.ts'
import { checkpointBlob, listCheckpoints } from '../../../host/checkpoints/storage/browse.ts'
import { SHIPPED } from '../../../host/content/models/shipped.ts'
import type { KeptFacts, ModelStart } from '../../../host/protocol/opened_model.ts'
import { otherVocabulary, vocabularyOf } from '../../../host/protocol/vocabulary.ts'
import { checkpointSource, runModels } from '../../../jobs/model_folders.ts'
import { startOf } from '../../../page/opened/opened_model.ts'
import { shippedFiles } from '../../../page/opened/shipped_files.ts'
import { learnFrom } from '../../../page/opened/start_from.ts'
import { libraryStore, runOf, shownRuns } from '../../../page/runs/library/library_store.ts'
import { labStore } from '../../../page/state/store.ts'
import { runName } from '../../../record/run/names.ts'
import { formatCount } from '../../kit/format.ts'

/** A line of the menu. */
export interface Teacher {
  readonly id: string
  readonly label: string
  /** Names the weights where an experiment does. */
  readonly name: string
  /** What its settings are made of. Rejects with a sentence for people. */
  start(): Promise<ModelStart>
}

/** A heading of the menu with its lines. */
export type TeacherGroup = readonly [heading: string, teachers: readonly Teacher[]]

/** Of a run, newest first: more would bury the others. */
const MOST_STATES = 4

/** Every model that is at hand, newest first. */
export async function teacherGroups(kept: readonly KeptFacts[]): Promise<readonly TeacherGroup[]> {
  const states = await listCheckpoints()
  const runs = shownRuns(libraryStore.getState()).flatMap(({ id }) =>
    states
      .filter(({ record }) => record === id)
      .toReversed()
      .slice(0, MOST_STATES)
      .flatMap(({ step }) => stateOfRun(id, step) ?? []),
  )
  const models = kept.flatMap(({ folder, name, hash, is_adapter }): Teacher[] =>
    hash === undefined || is_adapter
      ? []
      : [{ id: `kept-${folder}`, label: name, name, start: () => startOf({ folder }) }],
  )
  const shipped = SHIPPED.map((model): Teacher => {
    const { name } = model
    const start = async () => startOf({ name, files: await shippedFiles(model) })
    return { id: `shipped-${name}`, label: name, name, start }
  })
  const groups: TeacherGroup[] = [
    ['Kept states of runs', runs],
    ['Models kept in this browser', models],
    ['Come with the page', shipped],
  ]
  return groups.filter(([, teachers]) => teachers.length > 0)
}

function stateOfRun(id: string, step: number): Teacher | undefined {
  const entry = runOf(id)
  if (!entry) return undefined
  const run = runName(entry).name
  const behind = `, step ${formatCount(step)}`
  const name = `${run.slice(0, MOST_NAME - behind.length)}${behind}`
  return { id: `run-${id}-${step}`, label: name, name, start: () => startOfState(id, step, name) }
}

/** The policy of a kept state as a model of its own, its adapter merged. */
async function startOfState(record: string, step: number, name: string): Promise<ModelStart> {
  const blob = await checkpointBlob(record, step)
  if (!blob) throw new RangeError(`${name} is no longer kept. Choose another state.`)
  const { run } = await decodeCheckpoint(new Uint8Array(await blob.arrayBuffer()), name)
  const { task } = run.experiment
  const other = otherVocabulary(vocabularyOf(task).tokens, labStore.getState().experiment.task)
  if (other !== undefined) throw new RangeError(`${name} was ${other}.`)
  const { critic: _, reward_model: __, ...policy } = checkpointSource(run)
  const files = runModels(policy, taskOf(task)).map(
    ({ path, pieces }) => new File([...pieces], path),
  )
  return startOf({ name, files })
}

/** Makes it the teacher of the field at `at`. Gives what keeps it from teaching. */
export async function teach({ start }: Teacher, at: string): Promise<string | undefined> {
  try {
    return await learnFrom(await start(), at)
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
