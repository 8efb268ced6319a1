// Lists the models that a run can learn from: kept states of runs, models that are kept in this
// browser, and those that come with the page.
import { listCheckpoints } from '../../../host/checkpoints/storage/browse.ts'
import { SHIPPED } from '../../../host/content/models/shipped.ts'
import type { KeptFacts, ModelStart } from '../../../host/protocol/opened_model.ts'
import { otherVocabulary, vocabularyOf } from '../../../host/protocol/vocabulary.ts'
import { startOf } from '../../../page/opened/opened_model.ts'
import { shippedFiles } from '../../../page/opened/shipped_files.ts'
import { learnFrom } from '../../../page/opened/start_from.ts'
import { libraryStore, runOf, shownRuns } from '../../../page/runs/library/library_store.ts'
import { labStore } from '../../../page/state/store.ts'
import { runModel, stateName } from '../../open/models/run_files.ts'

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
  if (!runOf(id)) return undefined
  const name = stateName(id, step)
  return { id: `run-${id}-${step}`, label: name, name, start: () => startOfState(id, step, name) }
}

/** The policy of a kept state as a model of its own, its adapter merged. */
async function startOfState(record: string, step: number, name: string): Promise<ModelStart> {
  const { files, experiment, vectors } = await runModel(record, step)
  if (vectors)
    throw new RangeError(
      `${name} has steering vectors, which no file of a model holds. Choose a run that trains weights or an adapter.`,
    )
  const tokens = vocabularyOf(experiment.task).tokens
  const other = otherVocabulary(tokens, labStore.getState().experiment.task)
  if (other !== undefined) throw new RangeError(`${name} was ${other}.`)
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
