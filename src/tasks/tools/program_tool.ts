// Calls a tool that a person wrote as a program. It runs in the sandbox of programs: this file says
// what it is asked, and what its answers are.

import { isObject, jsonBriefly } from '../../formats/json.ts'
import {
  callProgram,
  type ProgramAnswer,
  type ProgramChoice,
  programSource,
} from '../task/program.ts'
import { type Tool, type ToolAnswer, ToolProblem } from './tool.ts'
import { readToolProgram } from './tool_program.ts'

/** The function that answers a call, by the name of verl's BaseTool: it gets the arguments as one
 * object. */
const TOOL_ENTRY = 'execute'

/** A call that waits for its batch. */
interface Waiting {
  readonly parameters: Readonly<Record<string, unknown>>
  resolve(answer: ToolAnswer): void
  reject(error: unknown): void
}

/** The tool of a program. Calls that are made at once are one batch of the sandbox, and the program
 * starts again for each, so no row depends on another one's calls. Throws RangeError for a program
 * that is no tool. */
export function programTool(choice: ProgramChoice): Tool {
  const source = programSource(choice.code)
  let waiting: Waiting[] = []
  async function flush(): Promise<void> {
    const batch = waiting
    waiting = []
    try {
      const calls = batch.map(({ parameters }) => ({ parameters }))
      const answers = await callProgram({ ...choice, is_fresh: true }, TOOL_ENTRY, calls)
      answers.forEach((answer, i) => {
        settle(batch[i], answer)
      })
    } catch (error) {
      for (const { reject } of batch) reject(error)
    }
  }
  return {
    ...(source === undefined ? absent(choice.name) : readToolProgram(source, choice.name)),
    isProgram: true,
    call: (parameters) =>
      new Promise((resolve, reject) => {
        // Rows of a batch make their calls one after the other, before anything else happens.
        if (waiting.length === 0) queueMicrotask(() => void flush())
        waiting.push({ parameters, resolve, reject })
      }),
  }
}

function settle({ resolve, reject }: Waiting, answer: ProgramAnswer): void {
  try {
    if ('problem' in answer) throw new ToolProblem(answer.problem, answer.message)
    resolve(readToolAnswer(answer.value))
  } catch (error) {
    reject(error)
  }
}

/** A document names a program before its file is here: then only the name is known. */
const absent = (file: string): Pick<Tool, 'schema' | 'marks'> => ({
  schema: {
    type: 'function',
    function: {
      name: file.replace(/\.\w+$/, '').replaceAll(/[^\w-]/g, '_'),
      description: '',
      parameters: { type: 'object', properties: {}, required: [] },
    },
  },
  marks: { open: '(', close: ')', argument: 'text' },
})

/** What a program returned as an answer: a text, or a text and a reward, as verl's function tools
 * do. Throws ToolProblem for anything else. */
function readToolAnswer(value: unknown): ToolAnswer {
  if (typeof value === 'string') return { text: value }
  const [text, reward] = Array.isArray(value)
    ? value
    : isObject(value)
      ? [value.text, value.reward ?? 0]
      : []
  if (typeof text === 'string' && typeof reward === 'number' && Number.isFinite(reward))
    return { text, reward }
  throw new ToolProblem(
    'error',
    `expected a text, or a text and a reward, got ${jsonBriefly(value)}`,
  )
}
