// A program that is dropped onto the page becomes a part of the reward, in place of an earlier one.
import { editField } from '../../../lab/page/client/edits.ts'
import { programPart } from '../../../lab/page/reward_trial.ts'
import { labStore } from '../../../lab/page/store.ts'
import { showDialog } from '../../palette/dialogs.ts'

/** What is wrong with it; nothing where it was taken. */
export async function takeProgram(file: File): Promise<readonly string[]> {
  try {
    const part = await programPart(await file.text(), file.name)
    const { parts } = labStore.getState().experiment.reward
    const at = parts.findIndex(({ id }) => id === part.id)
    const next =
      at < 0 ? [...parts, part] : parts.with(at, { ...parts[at], code: part.code, name: part.name })
    const refused = editField('reward.parts', next)
    if (refused !== undefined) return [refused]
    showDialog('reward')
    return []
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)]
  }
}
