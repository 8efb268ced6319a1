// Tries the tools of an experiment as a person chooses them, and what one of them answers before
// anything is trained.

import type { Experiment } from '../../document/experiment/schema/schema.ts'
import { isObject } from '../../formats/json.ts'
import { callOnPage } from '../../host/sandbox/page_programs.ts'
import { installProgramRunner, PROGRAM_ID } from '../../tasks/task/program.ts'
import { createTools, TOOLS, type ToolChoice } from '../../tasks/tools/index.ts'
import {
  callTool,
  nameOf,
  type Tool,
  type ToolSchema,
  TURN_DEFAULTS,
} from '../../tasks/tools/tool.ts'
import { isToolProgram, readToolProgram } from '../../tasks/tools/tool_program.ts'
import { findContents } from '../contents/contents.ts'
import { keepProgram } from '../contents/kept_programs.ts'

export { isToolProgram, type ToolChoice }

/** The built-in tools, to choose from. */
export const BUILT_IN: readonly ToolSchema['function'][] = TOOLS.map(
  ({ schema }) => schema.function,
)

/** Keeps the text of a tool. Throws RangeError with the reason where it is none. */
export async function programTool(source: string, name: string): Promise<ToolChoice> {
  readToolProgram(source, name)
  return { id: PROGRAM_ID, ...(await keepProgram(source, name)) }
}

/** A tool as it is shown: how it is called, and arguments to begin with. */
export interface ShownTool {
  readonly name: string
  readonly description: string
  readonly call: string
  readonly example: string
}

const EXAMPLES = { string: '', integer: 1, number: 0.5, boolean: true }

const shownTool = ({ schema, marks }: Tool): ShownTool => {
  const { name, description, parameters } = schema.function
  const example = Object.entries(parameters.properties).map(([key, { type }]) => [
    key,
    EXAMPLES[type],
  ])
  return {
    name,
    description,
    call: `${marks.open}${marks.argument}${marks.close}`,
    example: JSON.stringify(Object.fromEntries(example)),
  }
}

/** What an experiment's tools are. Throws RangeError where two have one name, or a program is no
 * tool. */
export const shownTools = ({ tools, reward }: Experiment): readonly ShownTool[] =>
  createTools(tools, reward).map(shownTool)

/** What a person sees of a call by hand. */
export interface TriedCall {
  readonly text: string
  /** The last of what the program printed. */
  readonly printed: string
}

/** What the model would read of a call. Rejects with the reason where a file of the experiment is
 * not here, or the arguments are no JSON object. */
export async function tryTool(
  experiment: Experiment,
  place: number,
  text: string,
): Promise<TriedCall> {
  const given: unknown = JSON.parse(text)
  if (!isObject(given)) throw new RangeError('expected the arguments as a JSON object')
  if (!(await findContents(experiment))) throw new RangeError('A file of it is not here.')
  let printed = ''
  installProgramRunner(async (...asked) => {
    const answers = await callOnPage(...asked)
    printed = answers.map((answer) => answer.printed ?? '').join('')
    return answers
  })
  const tools = createTools(experiment.tools, experiment.reward)
  const {
    max_tool_response_length = TURN_DEFAULTS.max_tool_response_length,
    tool_response_truncate_side = TURN_DEFAULTS.tool_response_truncate_side,
  } = experiment.rollout
  const cut = { max_tool_response_length, tool_response_truncate_side }
  const limits = {
    ...TURN_DEFAULTS,
    max_assistant_turns: undefined,
    max_user_turns: undefined,
    ...cut,
  }
  const call = { name: nameOf(tools[place]), arguments: given }
  return { text: (await callTool(tools, call, limits)).text, printed }
}
