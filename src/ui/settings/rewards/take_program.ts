// Takes a program that is dropped onto the page: one that says a tool_schema becomes a tool, any
// other a part of the reward, in place of an earlier one.
import { editField } from '../../../page/client/edits.ts'
import { labStore } from '../../../page/state/store.ts'
import { type PartChoice, programParts } from '../../../page/trials/reward_trial.ts'
import { isToolProgram, programTool, type ToolChoice } from '../../../page/trials/tool_trial.ts'
import { showDialog } from '../../open/dialogs.ts'

/** In place of the programs that are there, the one of a single program with its weight; or at the
 * end. */
async function takeReward(text: string, file: string): Promise<string | undefined> {
  const taken = await programParts(text, file)
  const { parts } = labStore.getState().experiment.reward
  const isProgram = ({ id }: PartChoice) => id === taken[0].id
  const at = parts.findIndex(isProgram)
  const weight = taken.length === 1 && at >= 0 ? parts[at].weight : 1
  const others = parts.filter((part) => !isProgram(part))
  const place = at < 0 ? others.length : parts.slice(0, at).length
  return editField(
    'reward.parts',
    others.toSpliced(place, 0, ...taken.map((part) => ({ ...part, weight }))),
  )
}

async function takeTool(text: string, file: string): Promise<string | undefined> {
  const tool = await programTool(text, file)
  const isSame = ({ name }: ToolChoice) => name === tool.name
  const { tools } = labStore.getState().experiment
  const at = tools.findIndex(isSame)
  return editField('tools', at < 0 ? [...tools, tool] : tools.with(at, tool))
}

/** What is wrong with it; nothing where it was taken. */
export async function takeProgram(file: File): Promise<readonly string[]> {
  try {
    const text = await file.text()
    const isTool = isToolProgram(text)
    const refused = await (isTool ? takeTool : takeReward)(text, file.name)
    if (refused !== undefined) return [refused]
    showDialog(isTool ? 'tools' : 'reward')
    return []
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)]
  }
}
