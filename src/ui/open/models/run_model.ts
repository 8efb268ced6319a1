// Opens the model of a run in the dialog that writes with models, with something of its own task to
// begin with.
import { taskOf } from '../../../document/experiment/fields/task_fields.ts'
import type { Experiment } from '../../../document/experiment/schema/schema.ts'
import { type FirstTry, openedModelStore, openModel } from '../../../page/opened/opened_model.ts'
import { dialogStore, showDialog } from '../dialogs.ts'
import { runModel, stateName } from './run_files.ts'

/** Opens the policy after `step`; without one, as the run has it now or had it last. `typed`: what
 * a person wrote for another state of the model. The dialog says what keeps it from that. */
export async function writeWithRun(
  record: string,
  step?: number,
  typed?: Pick<FirstTry, 'text' | 'settings'>,
): Promise<void> {
  const name = step === undefined ? '' : stateName(record, step)
  showDialog('model')
  openedModelStore.setState({ name, isMaking: true, problem: undefined })
  const isOpen = () => dialogStore.getState().open === 'model'
  try {
    const { files, vectors, experiment, ...model } = await runModel(record, step)
    const beside = { ...(vectors && { vectors }), firstTry: { ...firstTry(experiment), ...typed } }
    if (isOpen()) openModel(model.name, files, beside)
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error)
    if (isOpen()) openedModelStore.setState({ isMaking: false, problem })
  }
}

/** The first held-out problem, and room for the longest answer to it. */
export function firstTry({ task, seed, reward, rollout, model }: Experiment): FirstTry {
  const max_tokens = rollout.max_response_length
  const of = model.source_name !== null && { of: model.source_name }
  const known = { ...of, max_tokens, experiment: { task, seed, reward } }
  try {
    const { prompt, messages } = taskOf(task).sample(seed, 0, 'test')
    const asked = messages?.at(-1)
    return typeof asked?.content === 'string'
      ? { ...known, text: asked.content }
      : { ...known, text: prompt, continues: true }
  } catch {
    // Rows of a data set that are not here: what to say is up to the person.
    return known
  }
}
