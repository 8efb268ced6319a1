// Finished conversations as a batch: what programs among the tools did not answer stays with its
// row.
import { expect, test } from 'vitest'
import { arithmetic } from '../../tasks/tokenizers/arithmetic.ts'
import { calculator } from '../../tasks/tools/calculator.ts'
import { Conversation } from '../../tasks/tools/conversation.ts'
import { markedTurns } from '../../tasks/tools/marked_turns.ts'
import { type Tool, ToolProblem, TURN_DEFAULTS } from '../../tasks/tools/tool.ts'
import { batchTurns, pickTurns } from './turns.ts'

const own: Tool = {
  ...calculator,
  isProgram: true,
  call({ expression }) {
    if (expression === '0') throw new ToolProblem('timeout', 'took longer')
    return { text: '1' }
  },
}

async function talk(tool: Tool, ...calls: string[]) {
  const limits = { ...TURN_DEFAULTS, max_assistant_turns: 2, max_user_turns: undefined }
  const format = markedTurns(arithmetic, [tool])
  const setting = { format, tools: [tool], limits, response_length: 12 }
  const held = calls.map(() => new Conversation(setting, [{ role: 'user', content: '1=' }]))
  await Promise.all(held.map((one, i) => one.say(arithmetic.encode(calls[i]))))
  return batchTurns(held, 12, arithmetic.eos_token_ids)
}

test('calls that a program did not answer are counted by row, those of built-in tools are not', async () => {
  const turns = await talk(own, '[0]', '[1]')
  const failure = { tool: 'calculator', kind: 'timeout', message: 'took longer' }
  expect(turns.tool_problems).toEqual([[failure], []])
  expect(turns.tool_calls).toEqual([1, 1])
  expect(pickTurns([turns, turns], [1, 2], 12).tool_problems).toEqual([[], [failure]])
  const builtIn = await talk(calculator, '[1/0]')
  expect(builtIn.tool_problems).toBeUndefined()
  expect(pickTurns([builtIn], [0], 12)).not.toHaveProperty('tool_problems')
})
