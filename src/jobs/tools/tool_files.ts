// Writes the tools of an experiment as tools.py, which verl loads: their schemas, and what answers
// their calls in Python.

import type { Experiment } from '../../document/experiment/schema/schema.ts'
import { type OutFile, textFile } from '../../formats/out_file.ts'
import { languageOf, PROGRAM_ID } from '../../tasks/task/program.ts'
import { createTools } from '../../tasks/tools/index.ts'
import { FACTS } from '../../tasks/tools/lookup.ts'
import { programText } from '../reward/composed_reward.ts'
import { JobError } from '../settings/job_error.ts'
import countdown from '../templates/scores/countdown.py?raw'
import calculator from '../templates/tools/calculator.py?raw'
import frame from '../templates/tools/frame.py?raw'
import lookup from '../templates/tools/lookup.py?raw'
import program from '../templates/tools/program.py?raw'

/** The name of the file. */
export const TOOLS_FILE = 'tools.py'

/** What answers in Python, by the id of a tool. */
const SOURCES: Readonly<Record<string, string>> = {
  // It works expressions out as the task does.
  calculator: `${countdown}\n${calculator}`,
  lookup: `FACTS = ${JSON.stringify(JSON.stringify(Object.fromEntries(FACTS)))}\n\n\n${lookup}`,
}

/** tools.py and the programs that it loads. Throws JobError for a tool that does not exist in
 * Python. */
export function toolFiles({ tools, reward }: Experiment): OutFile[] {
  const schemas = createTools(tools, reward).map(({ schema }) => schema)
  const files: OutFile[] = []
  const sources = tools.map(({ id, code, name }, i) => {
    if (id !== PROGRAM_ID) {
      if (!Object.hasOwn(SOURCES, id))
        throw new JobError(
          `tools: the tool ${id} does not exist in Python; add it to src/jobs/templates/tools and to SOURCES in src/jobs/tools/tool_files.ts`,
        )
      return SOURCES[id]
    }
    if (languageOf(`${name}`) !== 'python')
      throw new JobError(
        `tools: ${name} is in JavaScript, and verl runs Python; write it as a .py file`,
      )
    const file = `tool_${i + 1}.py`
    files.push(textFile(file, programText(`${code}`, `${name}`)))
    return `FILE = ${JSON.stringify(file)}\n\n\n${program}`
  })
  const registered = schemas.map(
    (schema, i) =>
      `register(json.loads(${JSON.stringify(JSON.stringify(schema))}), _tool_${i + 1}())`,
  )
  const text = frame
    .replace('# TOOLS', () =>
      sources.map((source, i) => inFunction(`_tool_${i + 1}`, source)).join('\n\n\n'),
    )
    .replace('# REGISTERED', () => registered.join('\n'))
  return [textFile(TOOLS_FILE, text), ...files]
}

/** A source in a function of its own, so that names of two tools do not meet. */
function inFunction(name: string, source: string): string {
  const body = source
    .trim()
    .split('\n')
    .map((line) => (line === '' ? '' : `    ${line}`))
  return `def ${name}():\n${body.join('\n')}\n\n    return answer`
}
