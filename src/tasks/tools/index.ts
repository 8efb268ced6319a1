// Lists the tools that an experiment can name.
import { PROGRAM_ID, type ProgramLimits } from '../task/program.ts'
import { calculator } from './calculator.ts'
import { lookup } from './lookup.ts'
import { programTool } from './program_tool.ts'
import { nameOf, type Tool } from './tool.ts'

/** Every built-in tool, in the order of the menu. */
export const TOOLS: readonly Tool[] = [calculator, lookup]

/** What an experiment says of a tool: its id; of a program the hash of its text and the name of its
 * file too. */
export interface ToolChoice {
  readonly id: string
  readonly code?: string
  readonly name?: string
}

/** The tools of an experiment; `limits` are those of programs. A program whose text is not here has
 * a name and no arguments. Throws RangeError for a name that is none, for one that occurs twice,
 * and for a program that is no tool. */
export function createTools(choices: readonly ToolChoice[], limits: ProgramLimits): Tool[] {
  const tools = choices.map(({ id, code = '', name = '' }) => {
    const { timeout_ms, batch_timeout_ms } = limits
    if (id === PROGRAM_ID) return programTool({ code, name, timeout_ms, batch_timeout_ms })
    const tool = TOOLS.find((one) => nameOf(one) === id)
    if (!tool)
      throw new RangeError(
        `tools: expected one of ${[...TOOLS.map(nameOf), PROGRAM_ID].join(', ')}, got ${id}`,
      )
    return tool
  })
  const names = tools.map(nameOf)
  const twice = names.find((name, i) => names.indexOf(name) < i)
  if (twice !== undefined)
    throw new RangeError(`tools: expected each name once, got ${twice} twice`)
  return tools
}
