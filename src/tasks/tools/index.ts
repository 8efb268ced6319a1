// The list of tools that an experiment can name.
import { calculator } from './calculator.ts'
import { lookup } from './lookup.ts'
import { nameOf, type Tool } from './tool.ts'

/** Every built-in tool, in the order of the menu. */
export const TOOLS: readonly Tool[] = [calculator, lookup]

/** What an experiment says of a tool. */
export interface ToolChoice {
  readonly id: string
}

/** The tools of an experiment. Throws RangeError for a name that is none, and for one that occurs twice. */
export function createTools(choices: readonly ToolChoice[]): Tool[] {
  return choices.map(({ id }, i) => {
    const tool = TOOLS.find((one) => nameOf(one) === id)
    if (!tool)
      throw new RangeError(`tools: expected one of ${TOOLS.map(nameOf).join(', ')}, got ${id}`)
    if (choices.findIndex((choice) => choice.id === id) < i)
      throw new RangeError(`tools: expected each tool once, got ${id} twice`)
    return tool
  })
}
