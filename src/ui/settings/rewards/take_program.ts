// A program that is dropped onto the page: one that says a tool_schema becomes a tool, any other a part of the reward, in place of an earlier one.
import { editField } from '../../../lab/page/client/edits.ts'
import { programPart } from '../../../lab/page/reward_trial.ts'
import { labStore } from '../../../lab/page/store.ts'
import { isToolProgram, programTool, type ToolChoice } from '../../../lab/page/tool_trial.ts'
import { showDialog } from '../../palette/dialogs.ts'

/** The list with an item in place of the one of the same kind, or at its end. */
function placed<T>(list: readonly T[], item: T, isSame: (one: T) => boolean): readonly T[] {
  const at = list.findIndex(isSame)
  return at < 0 ? [...list, item] : list.with(at, item)
}

async function takeReward(text: string, file: string): Promise<string | undefined> {
  const { code, name, ...part } = await programPart(text, file)
  const { parts } = labStore.getState().experiment.reward
  const before = parts.find(({ id }) => id === part.id) ?? part
  return editField(
    'reward.parts',
    placed(parts, { ...before, code, name }, ({ id }) => id === part.id),
  )
}

async function takeTool(text: string, file: string): Promise<string | undefined> {
  const tool = await programTool(text, file)
  const isSame = ({ name }: ToolChoice) => name === tool.name
  return editField('tools', placed(labStore.getState().experiment.tools, tool, isSame))
}

/** What is wrong with it; nothing where it was taken. */
export async function takeProgram(file: File): Promise<readonly string[]> {
  try {
    const text = await file.text()
    const is_tool = isToolProgram(text)
    const refused = await (is_tool ? takeTool : takeReward)(text, file.name)
    if (refused !== undefined) return [refused]
    showDialog(is_tool ? 'tools' : 'reward')
    return []
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)]
  }
}
